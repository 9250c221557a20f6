/**
 * The code that a text says in any case: eur → EUR. Only the letters a to z: toUpperCase() would take ı for i
 * and ſ for s (D127).
 */
export function inCapitals(text: string): string {
  return text.replace(/[a-z]+/g, letters => letters.toUpperCase())
}
