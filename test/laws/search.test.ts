/** The law of search (D86): it finds what a search in memory finds, in the same order. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { candidatesMax } from '../../src/lists/search/statement.ts'
import { makeFindable } from '../support/findable.ts'
import { random } from '../support/generated.ts'
import { seed, shareOf } from '../support/questions.ts'
import { startService, v1 } from '../support/service.ts'
import { folded } from './naive.ts'

const service = await startService()
const { get } = service
type Hit = { resource: string; id: number }
// biome-ignore lint/suspicious/noExplicitAny: records of any resource
type Any = any
let all: { resource: string; id: number; name: string; texts: string[]; phones: string[] }[] = []

before(async () => {
  await makeFindable(service)
  all = await records()
})

/** All searchable records, as lists return them. */
async function records(): Promise<typeof all> {
  const told: typeof all = []
  for (const resource of ['deal', 'contact', 'company', 'product']) {
    for (let page = 1, hasMore = true; hasMore; page++) {
      const { data, meta } = (await get(`${v1}/${resource}/view/list?pageSize=500&page=${page}`)).body
      hasMore = meta.hasMore
      for (const one of data as Any[]) {
        const name = one.title ?? one.name ?? [one.first_name, one.last_name].filter(Boolean).join(' ')
        const emails = (one.emails ?? []).map((entry: Any) => entry.email_value)
        const phones = (one.phones ?? []).map((entry: Any) => entry.phone_number)
        const parts = resource === 'contact' ? [one.first_name ?? '', one.last_name] : []
        const texts = [name, ...parts, ...emails, one.product_code ?? ''].filter(text => text !== '')
        told.push({ resource, id: one.id, name, texts, phones })
      }
    }
  }
  return told
}

/** The search in memory, by another algorithm. */
function expected(q: string): string[] | null {
  const asked = folded(q.trim().split(/\s+/).join(' '))
  const digitsOf = (text: string) => text.replace(/[^0-9]/g, '')
  const isPhone = (text: string) =>
    /^[-+0-9\s()./]+((;?ext[.=]|x|#|,)\s*\d+)?$/.test(text) && digitsOf(text).length > 2
  // German numbers: the national form begins with 0, the international one with +49.
  const waysOf = (text: string) => {
    const digits = digitsOf(text.replace('(0)', ''))
    const national = digits.replace(/^(00)?(49|1|43)/, '0')
    if (digits.length < 7 || !isPhone(text)) return [digitsOf(text)]
    if (/^\+|^00/.test(text)) return [digits.replace(/^00/, ''), national].filter(way => way.length > 6)
    return text.replace(/^\D+/, '').startsWith('0')
      ? [digitsOf(text), digitsOf(text).slice(1)]
      : [digitsOf(text)]
  }
  const rank = ({ texts, phones }: (typeof all)[number]): number | null => {
    const lines = texts.map(folded)
    const numbers = phones.map(digitsOf)
    const has = (word: string) =>
      [...lines, ...numbers].some(line => line.includes(word)) ||
      (isPhone(word) && [...lines, ...numbers].some(line => waysOf(word).some(way => line.includes(way))))
    const asNumber = isPhone(asked) ? waysOf(asked) : []
    const isNumber = [...lines, ...numbers].some(line => asNumber.some(way => line.includes(way)))
    if (!asked.split(' ').every(has) && !isNumber) return null
    if (lines.includes(asked) || numbers.some(line => asNumber.includes(line))) return 0
    if (lines.some(line => line.startsWith(asked))) return 1
    if (numbers.some(line => asNumber.some(way => line.startsWith(way)))) return 1
    const words = [...lines, ...numbers].flatMap(line =>
      [...line].flatMap((_letter, at) => {
        const isStart = at === 0 || !/[\p{L}\p{M}\p{N}]/u.test([...line][at - 1]!)
        return isStart ? [[...line].slice(at).join('')] : []
      }),
    )
    const begins = (word: string) => words.some(rest => rest.startsWith(word))
    const isBegun = (word: string) => begins(word) || (isPhone(word) && waysOf(word).some(begins))
    return asked.split(' ').every(isBegun) ? 2 : 3
  }
  const matches = all.flatMap(record => {
    const place = rank(record)
    return place === null ? [] : [{ ...record, place }]
  })
  // Of more matches the newest are ranked.
  const counts = [...Map.groupBy(matches, ({ resource }) => resource).values()].map(some => some.length)
  if (Math.max(...counts) > candidatesMax) return null
  return matches
    .sort((one, other) => one.place - other.place || other.id - one.id)
    .slice(0, 50)
    .map(({ resource, id }) => `${resource} ${id}`)
}

test('finds what a search in memory finds, in the same order', async () => {
  const next = random(seed)
  const below = (count: number) => Math.floor(next() * count)
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!
  const part = () => {
    const record = pick(all)
    const text = pick([...record.texts, ...record.phones])
    const letters = [...text]
    const from = below(letters.length)
    const piece = letters.slice(from, from + 2 + below(8)).join('')
    return below(4) === 0 ? text : below(2) ? piece.toUpperCase() : piece
  }
  let answered = 0
  for (let index = 0; index < shareOf(250); index++) {
    const q = (below(3) ? part() : `${part()} ${part()}`).trim()
    if ([...q].length < 2 || q.split(/\s+/).length > 10) continue
    const { data } = (await get(`${v1}/search?q=${encodeURIComponent(q)}&pageSize=50`)).body
    const hits: Hit[] = data
    const wanted = expected(q)
    if (wanted)
      assert.deepEqual(
        hits.map(({ resource, id }) => `${resource} ${id}`),
        wanted,
        JSON.stringify(q),
      )
    if (hits.length) answered++
  }
  assert.ok(answered > shareOf(250) / 2, String(answered))
})
