/** Where problems of a refused write are said. Pure. */

export type Problems = { readonly [field: string]: string }

/** Problems of fields that the form does not show are said at its head. */
export function placed(problems: Problems, fields: readonly string[]): Problems {
  const found: { [field: string]: string } = {}
  for (const [name, text] of Object.entries(problems)) {
    const isShown = fields.includes(name)
    const key = isShown ? name : ''
    found[key] = found[key] ? `${found[key]} ${text}` : text
  }
  return found
}
