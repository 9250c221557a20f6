export function Today() {
  return <main className="p-4">Today</main>
}
