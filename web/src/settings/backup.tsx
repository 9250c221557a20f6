export function Backup() {
  return null
}
