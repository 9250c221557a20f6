/** The limits of a field as they are typed. Pure. */

/** The limits that differ from what they were, as they are sent: null takes one away. */
export function changedLimits(
  before: { readonly [limit: string]: number | undefined },
  after: { readonly [limit: string]: string },
) {
  const changes: { [limit: string]: number | string | null } = {}
  for (const [name, typed] of Object.entries(after)) {
    const was = before[name]
    const text = typed.trim()
    if (text === String(was ?? '')) continue
    const number = Number(text.replace(',', '.'))
    changes[name] = text === '' ? null : Number.isFinite(number) ? number : text
  }
  return changes
}
