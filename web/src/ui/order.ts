/** Moves within lists, by dragging and by buttons. Pure. */

/** A place among lists: before the element at `index`; the length is the end. */
export type Place = { readonly list: string; readonly index: number }

/** A list with the element of `from` moved before the one at `before`. */
export function moved<T>(items: readonly T[], from: number, before: number): T[] {
  const item = items[from]
  if (item === undefined) return [...items]
  const rest = items.filter((_, index) => index !== from)
  rest.splice(before > from ? before - 1 : before, 0, item)
  return rest
}

export type Section = { readonly section: string; readonly fields: readonly string[] }

/** A form with a field moved to a place of a section. Empty sections are removed. */
export function withFieldAt(form: readonly Section[], name: string, { list, index }: Place): Section[] {
  return form
    .map(part => {
      const at = part.fields.indexOf(name)
      if (part.section === list) {
        const fields = at >= 0 ? moved(part.fields, at, index) : [...part.fields]
        if (at < 0) fields.splice(index, 0, name)
        return { ...part, fields }
      }
      return at < 0 ? part : { ...part, fields: part.fields.filter(other => other !== name) }
    })
    .filter(part => part.fields.length > 0)
}

/** The place of a field one step up or down, also in the next section; null at either end of the form. */
export function stepOf(form: readonly Section[], name: string, by: 1 | -1): Place | null {
  const which = form.findIndex(part => part.fields.includes(name))
  const part = form[which]
  if (!part) return null
  const at = part.fields.indexOf(name)
  const next = at + by
  if (next >= 0 && next < part.fields.length) return { list: part.section, index: by > 0 ? next + 1 : next }
  const neighbour = form[which + by]
  return neighbour ? { list: neighbour.section, index: by > 0 ? 0 : neighbour.fields.length } : null
}
