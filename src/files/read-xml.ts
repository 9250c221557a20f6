/** Streaming XML parser for workbooks: tags and texts, with bounds. Knows nothing of their meaning. */
import { SaxesParser } from 'saxes'
import { TimeSlice } from '../waiting/yielding.ts'
import { unreadable } from './read-limits.ts'

/**
 * in characters: of a text, which is buffered whole, and of all open tags with their attributes, which the
 * parser keeps
 */
const tokenMax = 4_000_000
/** of open tags: a workbook has fewer than 20 */
const levelsMax = 100
/** of a tag: the parser makes an object of them without a pause */
const attributesMax = 1000

export type Handlers = {
  open(name: string, attributes: { readonly [name: string]: string }): void
  close?(name: string): void
  text?(text: string): void
}

/**
 * Names have no prefixes; empty content has no tags. Yields after each piece, so that its results can be
 * used.
 */
export async function* parsed(content: AsyncIterable<Uint8Array>, handlers: Handlers): AsyncGenerator<void> {
  const parser = new SaxesParser({ fileName: '' })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const slice = new TimeSlice()
  const open = openTags()
  let [seen, isEmpty, attributes] = [0, true, 0]
  const saw = () => {
    seen = parser.position
    attributes = 0
  }
  parser.on('attribute', () => {
    if (++attributes > attributesMax) throw broken(`a tag has more than ${attributesMax} attributes`)
  })
  parser.on('error', error => {
    throw broken(error.message)
  })
  parser.on('doctype', () => {
    throw broken('it has a document type')
  })
  parser.on('comment', saw)
  parser.on('opentag', ({ name, attributes }) => {
    open.add(parser.position - seen)
    saw()
    handlers.open(bare(name), attributes as { [name: string]: string })
  })
  parser.on('closetag', ({ name }) => {
    open.remove()
    saw()
    handlers.close?.(bare(name))
  })
  const text = (found: string) => {
    saw()
    handlers.text?.(found)
  }
  parser.on('text', text)
  parser.on('cdata', text)
  for await (const bytes of content) {
    isEmpty = false
    parser.write(decode(decoder, bytes))
    if (parser.position - seen > tokenMax) throw broken(`a text has more than ${tokenMax} characters`)
    yield
    if (slice.isOver) await slice.yield()
  }
  if (!isEmpty) parser.close()
  yield
}

/** The open tags, by their lengths. */
function openTags() {
  const lengths: number[] = []
  let sum = 0
  return {
    add(length: number) {
      sum += length
      if (lengths.push(length) > levelsMax)
        throw broken(`its tags are nested more than ${levelsMax} levels deep`)
      if (sum > tokenMax) throw broken(`its tags have more than ${tokenMax} characters`)
    },
    remove() {
      sum -= lengths.pop()!
    },
  }
}

/** Parses all content. */
export async function parseAll(content: AsyncIterable<Uint8Array>, handlers: Handlers): Promise<void> {
  for await (const _ of parsed(content, handlers));
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true })
  } catch {
    throw broken('it is not UTF-8')
  }
}

function bare(name: string): string {
  const colon = name.indexOf(':')
  return colon < 0 ? name : name.slice(colon + 1)
}

function broken(why: string): Error {
  const what = `The file can't be read: ${why.replace(/^:/, '').slice(0, 200)}.`
  return unreadable(null, what, 'Save it as XLSX again, or as CSV.')
}
