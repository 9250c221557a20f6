/** Generated calls of the tools of agents, for the laws: plain, wrong and hostile ones. */
import type { Json } from '../../src/json.ts'
import { tools } from '../../src/mcp/tools.ts'

export type ToolCall = { readonly tool: string; readonly args: { readonly [name: string]: Json } }

/** A message of the older revision, which needs no envelope. */
export function messageOf({ tool, args }: ToolCall): { [name: string]: Json } {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }
}

/** The tool's answer in the text of a response. */
export function toolAnswerOf(text: string): { readonly text: string; readonly isError: boolean } | null {
  const data = /^data: (.*)$/m.exec(text)?.[1]
  if (!data) return null
  const { result } = JSON.parse(data) as { result?: { content: { text: string }[]; isError?: boolean } }
  return result ? { text: result.content[0]!.text, isError: result.isError === true } : null
}

export type Pool = {
  readonly next: () => number
  /** ids and names of records, seen or not, and values of their fields */
  readonly ids: readonly number[]
  readonly texts: readonly string[]
  readonly fields: readonly string[]
}

const resources = ['deal', 'contact', 'company', 'activity', 'product', 'user', 'territory']

/** A call that reads, or the first step of one that writes. It changes nothing. */
export function plainCall({ next, ids, texts, fields }: Pool): ToolCall {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!
  const maybe = (name: string, value: () => Json) => (next() < 0.4 ? { [name]: value() } : {})
  const resource = pick(resources)
  const word = () => pick(['is', 'is not', 'contains', 'over', 'under', 'is one of', 'before', 'between'])
  const condition = () =>
    pick([
      `${pick(fields)} ${word()} ${pick(texts)}`,
      `${pick(fields)} is empty`,
      `${pick(['company.name', 'primary_contact.emails', 'deal.title'])} contains ${pick(texts).slice(0, 4)}`,
      `${pick(['created_at', 'updated_at', 'expected_close_date'])} after ${pick(['last year', '2020-01-01'])}`,
    ])
  const where = () => Array.from({ length: 1 + Math.floor(next() * 2) }, condition)
  const record = () => (next() < 0.6 ? pick(ids) : pick(texts))
  switch (Math.floor(next() * 9)) {
    case 0:
      return { tool: 'search', args: { text: pick(texts).slice(0, 2 + Math.floor(next() * 10)) } }
    case 1:
    case 2:
      return {
        tool: 'list',
        args: {
          resource,
          ...maybe('where', where),
          ...maybe('fields', () => [pick(fields)]),
          ...maybe('limit', () => 5),
          ...maybe('sort', () => `${pick(fields)} desc`),
        },
      }
    case 3:
      return { tool: 'get', args: { resource, record: record() } }
    case 4:
      return {
        tool: 'report',
        args: {
          report: pick(['sums', 'funnel']),
          ...maybe('group_by', () => [pick(fields)]),
          ...maybe('measures', () => ['count', `sum of ${pick(fields)}`]),
          ...maybe('where', where),
        },
      }
    case 5:
      return { tool: 'history', args: { resource, record: record(), ...maybe('by', () => 'agents') } }
    case 6:
      return { tool: 'describe', args: next() < 0.5 ? { resource } : { resource, fields: [pick(fields)] } }
    case 7:
      return {
        tool: 'update',
        args: {
          resource: pick(['deal', 'contact']),
          ...(next() < 0.6 ? { record: record() } : { where: where() }),
          values: { [pick(fields)]: pick(texts) },
        },
      }
    default:
      return { tool: 'undo', args: { event: Math.floor(next() * 1200) } }
  }
}

/** Values that break programs. */
const hostile: readonly Json[] = [
  ...["'; DROP TABLE deal; --", '" OR 1=1', '\u0000', '\ud800', '../../etc/passwd', '{{7*7}}'],
  ...['__proto__', 'constructor', 'x'.repeat(3000), '%00', '\u202e', '🙂'.repeat(200), '(((((((((('],
  ...['or(or(or(or(or(or(id:eq(1)))))))', 'id:in("', 'title:like(%)', '1e400', 'NaN', 'null', '', ' '],
  ...[-1, 0, 1.5, 9_007_199_254_740_991, 1e300, true, false, null, [], {}],
  ...[[[[[]]]], { $gt: '' }, { toString: 'x' }, [null], { a: { b: { c: {} } } }, Array(200).fill('x')],
]

/** A call with arguments of any kind, of this tool or another. */
export function hostileCall(pool: Pool): ToolCall {
  const { next } = pool
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!
  const plain = plainCall(pool)
  const tool = next() < 0.85 ? plain.tool : pick([...tools.map(({ name }) => name), 'eval', '__proto__', ''])
  const known = Object.keys(tools.find(({ name }) => name === tool)?.input.properties ?? {})
  const names = [...known, '__proto__', 'constructor', 'dry_run', 'sql']
  const args = { ...plain.args }
  for (let count = 0; count < 1 + Math.floor(next() * 3); count++) {
    const name = pick(names)
    const value = next() < 0.3 ? [pick(hostile)] : pick(hostile)
    // A repeated "__proto__" would set no member.
    Object.defineProperty(args, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return { tool, args }
}
