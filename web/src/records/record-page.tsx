export function RecordPage() {
  return <main className="p-4">RecordPage</main>
}
