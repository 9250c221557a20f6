/**
 * Texts are folded in one way (D126): on every engine, under every locale, in the database and in the code.
 * Brings its own engines.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { migrate } from '../../src/db/migrate.ts'
import { type Database, openDatabase } from '../../src/db/open.ts'
import { requireFolding } from '../../src/db/require-folding.ts'
import { casedName, comparedName, uniqueKey } from '../../src/fields/name.ts'
import { bareOf, fold, lowered } from '../../src/fold.ts'
import type { Json } from '../../src/json.ts'
import { folded as unicodeFolded } from '../laws/naive.ts'
import { createDatabase, dropDatabase, startPostgres } from '../support/postgres.ts'
import { type Service, startService, v1 } from '../support/service.ts'

const server = await startPostgres()
const made: string[] = []
after(async () => {
  for (const url of made) await dropDatabase(url)
  await server?.stop()
})

type Place = { readonly name: string; readonly locale?: string; readonly without?: readonly string[] }

const named = ['pg_c_utf8', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'und-x-icu']
const turkish = "LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR' LOCALE 'C.UTF-8'"
const places: readonly Place[] = server
  ? [
      { name: 'PostgreSQL, C.UTF-8', locale: "LOCALE 'C.UTF-8'" },
      { name: 'PostgreSQL, C', locale: "LOCALE 'C'" },
      { name: 'PostgreSQL, Turkish', locale: turkish },
      // A server that was built or installed with fewer features.
      { name: 'PostgreSQL, by ICU', locale: turkish, without: named.slice(0, 4) },
      { name: 'PostgreSQL, by Turkish alone', locale: turkish, without: named },
      {
        name: 'PostgreSQL, by Lithuanian alone',
        locale: "LOCALE_PROVIDER icu ICU_LOCALE 'lt' LOCALE 'C'",
        without: named,
      },
      { name: 'PostgreSQL, by C alone', locale: "LOCALE 'C'", without: named },
    ]
  : []

async function addressOf({ locale, without = [] }: Place): Promise<string> {
  const url = await createDatabase(server!.url, locale && `TEMPLATE template0 ${locale}`)
  made.push(url)
  const db = await openDatabase({ url, log: () => {} })
  await db.query('DELETE FROM pg_collation WHERE collname = ANY($1::text[])', [`{${without.join(',')}}`])
  await db.close()
  return url
}

/**
 * All letters without ideographs, Korean syllables, private and unassigned code points: those are folded to
 * themselves.
 */
const letters = [
  [0x1, 0x3400],
  [0xa000, 0xac00],
  [0xf900, 0x20000],
  [0xe0000, 0xe1000],
].flatMap(([from, to]) =>
  Array.from({ length: to! - from! }, (_, index) => String.fromCodePoint(from! + index)),
)
const others = [...[0x3400, 0xa000, 0xac00, 0xd800, 0xe000, 0xf900], ...[0x20000, 0xe0000, 0xe1000, 0x110000]]
/** The letters that folding changes, next to letters that decompose, or don't. */
const beside = ['é', 'が', '\u05b0'].flatMap(one =>
  letters
    .slice(0, 0x3000)
    .concat([...bareOf.keys()])
    .map(letter => one + letter),
)
const texts = [
  ...[
    'TITLE',
    'x\u200by \u0007 \u2060',
    '\u200b\u00a0x \ufe0f',
    'Łódź ĳ ǿ Ǽ ẛ ẞ Straße',
    'İSTANBUL ısı',
    'ΟΔΟΣ',
    'ΟΔΟΣ ΣΑΣ',
    'Α\u0345Σ\u0300',
    'I\u0307',
    'I\u0300 J\u0301 Į\u0303 Ì',
    'ǅungla Ǆ',
    'ẞ',
    '',
  ],
  ...[
    'Ä'.repeat(255),
    '\u{10d50} ꟎ \u{16ea0}',
    ' \u00a0\u2003\ufeffÉ\u3000',
    'E\u0301',
    'Việt',
    'Vie\u0323\u0302t',
    '한국',
    '한국'.normalize('NFD'),
  ],
]

const long = [320, 321, 1020, 1021].flatMap(length =>
  ['É', 'e\u0301', '\u200b', '\u00a0', ' '].map(one => ` ${one.repeat(length)}X`.slice(-length)),
)

/** A long text's key as the database keeps it. */
function hashed(key: string): string {
  return key.startsWith('\0') ? `#${createHash('sha256').update(key.slice(1)).digest('hex')}` : key
}

async function foldsAlike(db: Database): Promise<void> {
  await migrate(db)
  await requireFolding(db)
  const ask = async (sql: string, given: readonly string[]) => {
    const [row] = await db.query(
      `SELECT json_agg(${sql} ORDER BY n)::text AS all FROM json_array_elements_text($1::json) WITH ORDINALITY x (t, n)`,
      [JSON.stringify(given)],
    )
    return JSON.parse(row!.all!) as string[]
  }
  for (const [sql, code] of [
    ['fold(t)', fold],
    ['lowered(t)', lowered],
    ['compared_name(t)', comparedName],
    ['cased_name(t)', casedName],
    ['unique_key(t)', (text: string) => hashed(uniqueKey(text, false))],
    ['cased_unique_key(t)', (text: string) => hashed(uniqueKey(text, true))],
  ] as const)
    for (const given of sql.includes('unique') ? [texts, long] : [letters, beside, texts]) {
      const known = await ask(sql, given)
      const wrong = given.filter((text, index) => known[index] !== code(text))
      assert.deepEqual(wrong, [], sql)
    }
  for (const [index, from] of others.entries()) {
    if (index % 2) continue
    const [row] = await db.query(
      `SELECT count(*)::text AS wrong FROM generate_series($1::int, $2::int) n WHERE fold(chr(n)) <> chr(n)`,
      [String(from), String(others[index + 1]! - 1)],
    )
    assert.equal(row!.wrong, '0')
  }
}

test('the tables are those of Unicode, and a letter and its marks are folded as the letter composed', () => {
  assert.deepEqual(
    letters.filter(letter => fold(letter) !== unicodeFolded(letter)),
    [],
  )
  for (const [index, from] of others.entries())
    for (let code = from; index % 2 === 0 && code < others[index + 1]!; code++)
      if (fold(String.fromCodePoint(code)) !== String.fromCodePoint(code)) assert.fail(code.toString(16))
  assert.deepEqual(
    [...bareOf.keys()].filter(letter => fold(letter.normalize('NFD')) !== fold(letter)),
    [],
  )
})

describe('the database folds as the code does, every letter and in every context', () => {
  test('embedded', async () => {
    const db = await openDatabase({ log: () => {} })
    await foldsAlike(db).finally(() => db.close())
  })
  for (const place of places) {
    test(place.name, async () => {
      const db = await openDatabase({ url: await addressOf(place), log: () => {} })
      await foldsAlike(db).finally(() => db.close())
    })
  }
})

describe('said at the start', { skip: !server && 'no PostgreSQL here' }, () => {
  test('a database whose folding was changed, or whose libraries were, is refused in one line', async () => {
    const url = await addressOf({ name: 'PostgreSQL' })
    const db = await openDatabase({ url, log: () => {} })
    await migrate(db)
    await db.query(
      'CREATE OR REPLACE FUNCTION lowered(given text) RETURNS text LANGUAGE sql IMMUTABLE RETURN lower(given)',
    )
    await db.close()
    const { status, stderr } = spawnSync(process.execPath, ['bin/dealwright.js'], {
      env: { ...process.env, DATABASE_URL: url, PORT: '0' },
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^The database folds \d+ letters otherwise than this service \(.*ς.*\): .* Make a backup .*\n$/,
    )
  })

  for (const place of places.filter(({ without }) => !without)) {
    test(`${place.name}: whether words in other letters than a to z have an index`, async () => {
      const lines: string[] = []
      const db = await openDatabase({ url: await addressOf(place), log: line => lines.push(line) })
      await migrate(db)
      const [row] = await db.query("SELECT cardinality(show_trgm('äöü'))::text AS trigrams")
      await db.close()
      assert.equal(
        lines.some(line => /"like" has no index/.test(line)),
        row!.trigrams === '0',
      )
    })
  }
})

/** Word → the matching titles below. */
const searches = new Map([
  ['title', ['TITLE', 'title ı']],
  ['TITLE', ['TITLE', 'title ı']],
  ['I', ['İi', 'TITLE', 'title ı']],
  ['ΟΔΟς', ['ΟΔΟΣ', 'οδος']],
  ['ⓐ', ['Ⓐ', 'ⓐ']],
  ['\u{10d50}', ['\u{10d50}', '\u{10d70}']],
  ['é', ['e\u0301', 'É', 'TITLE', 'title ı']],
  ['E\u0301', ['e\u0301', 'É', 'TITLE', 'title ı']],
  ['A', ['Ä']],
  ['sS', ['ẞ', 'ß']],
])
const sorted = [
  ...['Ä', 'e\u0301', 'É', 'İi', 'ẞ', 'ß', 'TITLE', 'title ı', 'z'],
  ...['ΟΔΟΣ', 'οδος', 'Ა', 'ა', 'Ⓐ', 'ⓐ', 'Ꭰ', 'ꭰ', '𐐀', '\u{10d50}', '\u{10d70}', '𞤀'],
]
/** Name → whether it is unique among those before it. */
const names = new Map([
  ...(['Ⓐ', 'TITLE', 'é', 'e', 'x', 'ΟΔΟΣ', 'I', 'ı', '\u{10d50}'].map(name => [name, 201]) as [
    string,
    number,
  ][]),
  ...(['ⓐ', 'title', ' e\u0301 ', '\u00a0X ', '\u200bx\u2060', 'x\u0007', 'οδος', 'i', '\u{10d70}'].map(
    name => [name, 409],
  ) as [string, number][]),
])

function byFolded(one: string, other: string): number {
  return Buffer.compare(Buffer.from(fold(one)), Buffer.from(fold(other)))
}

async function answersAlike({ call, get }: Service): Promise<void> {
  const made = async (resource: string, body: { [name: string]: Json }) => {
    const reply = await call('POST', `${v1}/${resource}`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body.data.id as number
  }
  const primary_contact = await made('contact', { last_name: 'Contact' })
  const [{ id: pipeline_stage, pipeline }] = (await get(`${v1}/pipeline_stage/view/list?sort=id:asc`)).body
    .data
  for (const title of sorted)
    await made('deal', { title, pipeline, pipeline_stage, primary_contact, sales_owner: 1 })
  const listed = async (query: string) => {
    const reply = await get(`${v1}/deal/view/list?${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.map((deal: { title: string }) => deal.title)
  }
  for (const [word, titles] of searches)
    assert.deepEqual(
      await listed(`filter=${encodeURIComponent(`title:like(${word})`)}&sort=title:asc`),
      titles,
      word,
    )
  assert.deepEqual(await listed('sort=title:asc'), sorted)
  assert.deepEqual((await listed('sort=title:desc')).map(fold), sorted.map(fold).toReversed())
  for (const [name, status] of names)
    assert.equal((await call('POST', `${v1}/tag`, { name })).status, status, name)
  const { data } = (await get(`${v1}/field/dropdown?name=tags`)).body
  const tags = [...names.keys()].filter(name => names.get(name) === 201).toSorted(byFolded)
  assert.deepEqual(
    data.map((tag: { name: string }) => tag.name),
    tags,
  )
}

describe('lists, searches and unique names are the same everywhere', () => {
  test('embedded', async () => answersAlike(await startService({ sampleData: false })))
  for (const place of places.filter(({ without }) => !without))
    test(place.name, async () =>
      answersAlike(await startService({ sampleData: false, url: await addressOf(place) })),
    )
})
