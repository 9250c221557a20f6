/** The project's own files, for the house tests. */
import { globSync, readFileSync } from 'node:fs'

export type Source = { readonly path: string; readonly text: string }

/** Files by pattern from the project's root, with forward slashes. */
export function sources(pattern: string): Source[] {
  return globSync(pattern)
    .sort()
    .map(path => ({ path: path.replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }))
}

/** The files whose comments are read: all but generated ones. */
export function commented(): Source[] {
  return sources('{src,web/src,client/src,test,bench,scripts}/**/*.{ts,tsx}').filter(
    ({ path }) => !/^client\/src\/(schemas|resource-names)\.ts$/.test(path),
  )
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

export type Comment = { readonly line: number; readonly text: string }

/** The comments of a TypeScript file: blocks, groups of line comments, and those behind code. */
export function commentsOf(text: string): Comment[] {
  return [...text.matchAll(comment)].map(({ 0: whole, index }) => ({
    line: text.slice(0, index).split('\n').length,
    text: whole
      .replace(/^[ \t]*(?:\/\*\*?|\/\/|\*(?!\/))?[ \t]*|[ \t]*\*\/$/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  }))
}

/** Neither `/**` nor `//` within a string begins a comment. */
const comment =
  /^[ \t]*\/\*\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|(?<=[({;,] )\/\*\*.*?\*\/|(?<=^(?:[^'"`\n]|'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)*\S +)\/\/ .*/gm
