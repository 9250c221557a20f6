/** Assigns the problems of a refused write to the inputs of a form. Pure. */

export type Problems = { readonly [field: string]: string }

/** Problems of fields outside the form get the key ''. */
export function assignProblems(problems: Problems, fields: readonly string[]): Problems {
  const found: { [field: string]: string } = {}
  for (const [name, text] of Object.entries(problems)) {
    const isShown = fields.includes(name)
    const key = isShown ? name : ''
    found[key] = found[key] ? `${found[key]} ${text}` : text
  }
  return found
}
