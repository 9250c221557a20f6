/** The project's own files, for the tests that keep the house in order. */
import { globSync, readFileSync } from 'node:fs'

export type Source = { readonly path: string; readonly text: string }

/** Files by pattern from the project's root, with forward slashes. */
export function sources(pattern: string): Source[] {
  return globSync(pattern)
    .sort()
    .map(path => ({ path: path.replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }))
}

/** What a TypeScript file imports, as paths from the root for its neighbours, else as written. */
export function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(match => match[1]!)
  return specifiers.map(specifier =>
    specifier.startsWith('.') ? new URL(specifier, `file:///${path}`).pathname.slice(1) : specifier,
  )
}
