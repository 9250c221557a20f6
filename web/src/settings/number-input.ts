/** Reads numbers while they are typed. Pure. */

/**
 * The typed text in the form to send: null for nothing, a number if it is one, else the unchanged text, so
 * that the service reports its problem.
 */
export function numberIn(text: string): number | string | null {
  const typed = text.trim()
  if (typed === '') return null
  const number = Number(typed.replace(',', '.'))
  return Number.isFinite(number) ? number : typed
}
