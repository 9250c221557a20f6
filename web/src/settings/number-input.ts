/** Numbers as they are typed. Pure. */

/**
 * What was typed, as it is sent: null for nothing, a number where it is one, else the text as it is, so that
 * the service says what is wrong with it.
 */
export function numberIn(text: string): number | string | null {
  const typed = text.trim()
  if (typed === '') return null
  const number = Number(typed.replace(',', '.'))
  return Number.isFinite(number) ? number : typed
}
