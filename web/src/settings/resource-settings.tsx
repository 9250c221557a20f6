export function Territories() {
  return null
}
export function Tags() {
  return null
}
