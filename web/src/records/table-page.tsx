export function TablePage() {
  return <main className="p-4">TablePage</main>
}
