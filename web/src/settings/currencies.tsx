export function Currencies() {
  return null
}
