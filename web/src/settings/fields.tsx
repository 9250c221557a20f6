export function Fields() {
  return null
}
