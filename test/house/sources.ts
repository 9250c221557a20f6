/** The project's own files, for the house tests. */
import { globSync, readFileSync } from 'node:fs'

export type Source = { readonly path: string; readonly text: string }

/** Files by pattern from the project's root, with forward slashes. */
export function sources(pattern: string): Source[] {
  return globSync(pattern)
    .sort()
    .map(path => ({ path: path.replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }))
}

/** The imports of a TypeScript file: relative ones as paths from the root, others unchanged. */
export function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(match => match[1]!)
  return specifiers.map(specifier =>
    specifier.startsWith('.') ? new URL(specifier, `file:///${path}`).pathname.slice(1) : specifier,
  )
}

/**
 * The functions at the top level and the methods of classes. Relies on Biome's format: each begins at its
 * indentation, and ends with the next line of the same indentation that only closes it.
 */
export function functionsOf(text: string): { head: string; lines: number }[] {
  const lines = text.split('\n')
  return lines.flatMap((head, first) => {
    if (
      !/^(?:export )?(?:async )?function\b|^(?:export )?const .*(?:=>|\($|\(function .*\{$)/.test(head) &&
      !isMethod.test(head)
    )
      return []
    const indent = /^ */.exec(head)![0]
    const isEnd = (line: string) =>
      line.startsWith(indent) && /^[\])}]+(?: as const)?$/.test(line.slice(indent.length))
    const length = /[[({]$|=>$/.test(head) ? lines.slice(first).findIndex(isEnd) + 1 : 1
    return [{ head, lines: length }]
  })
}

const isMethod =
  /^ {2}(?:static |async |get |override |readonly )*(?:constructor|#?\w+(?:<.*>)?)(?:\(| = .*\().*[({]$/
