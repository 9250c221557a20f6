/** An error that belongs to no field; announced when it appears. */
export function ErrorMessage({ text }: { text: string | null | undefined }) {
  return (
    <div role="alert" className="empty:hidden">
      {text && <p className="rounded-sm bg-lost-soft px-3 py-2 text-lost whitespace-pre-line">{text}</p>}
    </div>
  )
}
