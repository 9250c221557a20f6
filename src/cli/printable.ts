/**
 * Sanitizes output for people that others wrote: names, e-mails, values. It must not control the terminal or
 * forge lines. JSON is for programs, and is unchanged.
 */

/** A text on one line, without control and invisible characters. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, ' ')
}

/** A template tag for texts of the command line: makes interpolated values printable. */
export function printableText(
  written: TemplateStringsArray,
  ...values: readonly (string | number)[]
): string {
  return String.raw({ raw: written }, ...values.map(value => printable(String(value))))
}
