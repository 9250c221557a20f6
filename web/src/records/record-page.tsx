export function RecordPage() {
  return <main className="p-4">RecordPage</main>
}

export function RecordPanel(_: { resource: string; id: number; onClose: () => void }) {
  return null
}
