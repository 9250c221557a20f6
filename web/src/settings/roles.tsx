export function Roles() {
  return null
}
