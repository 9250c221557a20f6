export function Forecast() {
  return <main className="p-4">Forecast</main>
}
