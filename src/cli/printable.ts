/**
 * What the command line prints for people of what somebody else wrote: names, e-mails, values. None of it may
 * control the terminal or make lines of its own. JSON is for programs, and keeps all.
 */

/** A text on one line, without characters that are not seen. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, ' ')
}

/** A tag for texts that the command line writes itself: what stands in them is made printable. */
export function told(written: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return String.raw({ raw: written }, ...values.map(value => printable(String(value))))
}
