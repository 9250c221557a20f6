/**
 * The shapes that a write could have, each doing what today's statement does. All are cut out of that
 * statement as the service sends it, so that they write the same rows and answer the same.
 */
import { GroupCommit } from '../src/db/group-commit.ts'
import type { Database, Row } from '../src/db/open.ts'
import type { Session } from '../src/db/session.ts'
import type { Statement as Captured } from './driver.ts'

/** One write: today's parameters, as the service would send them. */
export type Job = { readonly account: string; readonly params: readonly (string | null)[] }

export type Shape = {
  readonly name: string
  /** whether it keeps what a write must keep */
  readonly isWhole: boolean
  /** The answered row; undefined when it was refused. */
  write(job: Job): Promise<Row | undefined>
}

type Values = Readonly<Record<string, string | null>>
type Asked = { readonly text: string; readonly params: readonly (string | null)[] }

/** A statement with the numbers of today's parameters, and with {names} of its own. */
function statement(text: string): (job: Job, own?: Values) => Asked {
  const slots: string[] = []
  const numbered = text.replace(/\$(\d+)|\{(\w+)\}/g, (_match, number?: string, name?: string) => {
    const slot = number ?? name!
    if (!slots.includes(slot)) slots.push(slot)
    return `$${slots.indexOf(slot) + 1}`
  })
  return ({ params }, own = {}) => ({
    text: numbered,
    params: slots.map(slot => (/^\d/.test(slot) ? params[Number(slot) - 1]! : own[slot]!)),
  })
}

function cut(text: string, pattern: RegExp): string[] {
  const found = pattern.exec(text)
  if (!found) throw new Error(`today's statement has no ${pattern}`)
  return found.slice(1)
}

/** Today's statement in its parts. `at` and `last_id` stand for what the counter gives. */
export function partsOf(text: string) {
  const [account, version] = cut(
    text,
    /account_id = (\$\d+)::bigint FOR UPDATE\).*?oldest_version <= (\$\d+)/s,
  )
  const [answer] = cut(text, /answer AS \(SELECT (.*) FROM r\)/s)
  const [actor, changes] = cut(
    text,
    /e\.version, (\$\d+)::bigint, counted\.at, (.*)::jsonb\n {2}FROM counted, r e/,
  )
  // FOR SHARE, of all that the deal points to.
  const isThere = text.match(/\(\n {4}SELECT count.*?cardinality\(\$\d+::bigint\[\]\)/gs) ?? []
  const references = isThere.map(condition => cut(condition, /cardinality\((\$\d+)/)[0]!)
  const common = {
    ...{ account: account!, version: version!, actor: actor!, answer: answer!, changes: changes! },
    isThere: isThere.map(condition => condition.replace('FROM locked, ', 'FROM ')),
    references,
  }
  if (!text.includes('INSERT INTO "deal"')) {
    const [set] = cut(text, /SET version = version \+ 1, (.*?)\n {2}FROM locked/s)
    const [id, read, state] = cut(text, / id = (\$\d+)::.*\n.* = (\$\d+)::int AND xmin = (\$\d+)/)
    return { ...common, kind: 'update' as const, set: set!, id: id!, read: read!, state: state! }
  }
  const [columns, values] = cut(
    text,
    /INSERT INTO "deal" \((.*?)\)\n {2}SELECT (.*?)\n {2}FROM counted RETURNING/s,
  )
  return { ...common, kind: 'create' as const, columns: columns!, values: values! }
}

type Parts = ReturnType<typeof partsOf>

/** What a group needs of the counter; null in `last_seq`, and so an error, where it may not be written. */
function counterSql({ account, version, isThere }: Parts): string {
  const conditions = [`c.oldest_version <= ${version}::bigint`, ...isThere].join(' AND ')
  return `UPDATE counter c SET last_id = c.last_id + {ids}::bigint,
    last_seq = c.last_seq + CASE WHEN ${conditions} THEN {events}::bigint END,
    last_at = greatest(c.last_at, date_trunc('milliseconds', clock_timestamp()))
  WHERE c.account_id = ${account}::bigint
  RETURNING c.last_id::text, c.last_seq::text, c.last_at::text`
}

const lockSql = ({ account }: Parts) =>
  `SELECT 1 FROM counter WHERE account_id = ${account}::bigint FOR UPDATE`

/** One row, with what the counter says now; `back` records before its last one. */
function rowSql(parts: Parts): string {
  const from = (text: string) => text.replaceAll(/(?:counted|locked)\.at/g, 'c.last_at')
  if (parts.kind === 'create')
    return `INSERT INTO "deal" AS r (${parts.columns})
  SELECT ${from(parts.values).replace('counted.last_id', 'c.last_id - {back}::bigint')}
  FROM counter c WHERE c.account_id = ${parts.account}::bigint RETURNING ${parts.answer}`
  const { account, set, id, read, state, answer } = parts
  return `UPDATE "deal" AS r SET version = CASE
    WHEN r.version = ${read}::int AND r.xmin = ${state}::xid AND r.deleted_at IS NULL THEN r.version + 1 END,
    ${from(set)}
  FROM counter c
  WHERE r.account_id = ${account}::bigint AND r.id = ${id}::bigint AND c.account_id = ${account}::bigint
  RETURNING ${answer}, r.xmin::text AS state`
}

/** An array whose length the planner can't see: for a short one it would plan the statement each time. */
const given = (array: string) => `(SELECT ${array})`

/** The events of a group, from arrays. A record that is not there is null, and so an error. */
function eventsSql({ kind, account, changes }: Parts): string {
  const about =
    kind === 'create'
      ? 'c.last_id - e.back, 1'
      : `(SELECT r.id FROM deal r WHERE r.account_id = ${account}::bigint AND r.id = e.id), e.version + 1`
  return `INSERT INTO event (account_id, seq, type, resource, record_id, version, actor, at, changes)
  SELECT ${account}::bigint, c.last_seq - e.back, 'deal.${kind}d', 'deal', ${about}, e.actor, c.last_at,
    ${changes.replaceAll('counted.at', 'c.last_at').replace(/\$\d+::text/, 'e.changes')}::jsonb
  FROM counter c, unnest(${given('{backs}::bigint[]')}, ${given('{changed}::text[]')},
    ${given('{actors}::bigint[]')}, ${given('{recordIds}::bigint[]')}, ${given('{versions}::int[]')})
    e (back, changes, actor, id, version)
  WHERE c.account_id = ${account}::bigint`
}

/** The rows of a group by one INSERT: each parameter an array, with one text however many there are. */
function bulkSql(parts: Parts): string {
  if (parts.kind !== 'create') throw new Error('only creates')
  const { columns, values, answer, account } = parts
  const numbers = [...new Set(values.match(/\$\d+/g))].filter(number => number !== account)
  const row = values
    .replaceAll('counted.at', '{at}::timestamptz')
    .replace('counted.last_id', '{last}::bigint - u.back')
    .replaceAll(/\$(\d+)/g, (number, digits: string) => (number === account ? number : `u.v${digits}`))
  const arrays = numbers.map(number => given(`{a${number.slice(1)}}::text[]`))
  const names = numbers.map(number => `v${number.slice(1)}`)
  return `INSERT INTO "deal" AS r (${columns}) SELECT ${row}
  FROM unnest(${given('{backs}::bigint[]')}, ${arrays.join(', ')}) u (back, ${names.join(', ')})
  RETURNING ${answer}`
}

function arrayOf(values: readonly (string | null)[]): string {
  const quoted = values.map(value => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`))
  return `{${quoted.join(',')}}`
}

/** The parameters of a group: all that any of them points to, and the oldest configuration of them. */
function merged({ references, version }: Parts, jobs: readonly Job[]): Job {
  const [first] = jobs
  const params = [...first!.params]
  for (const number of references) {
    const ids = jobs.flatMap(job => at(job, number).slice(1, -1).split(','))
    params[slotOf(number)] = `{${[...new Set(ids)].join(',')}}`
  }
  params[slotOf(version)] = String(Math.min(...jobs.map(job => Number(at(job, version)))))
  return { ...first!, params }
}

/** Where the parameter "$7" stands. */
export const slotOf = (number: string) => Number(number.slice(1)) - 1
const at = (job: Job, number: string) => job.params[slotOf(number)]!

function ask(session: Pick<Session, 'ask'>, { text, params }: Asked): Promise<Row[]> {
  return session.ask(text, params, { prepare: true })
}

/** Waits for all of them; throws the first refusal, after which PostgreSQL carried out nothing more. */
async function all(answers: readonly Promise<Row[]>[]): Promise<Row[][]> {
  const settled = await Promise.allSettled(answers)
  return settled.map(one => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

const plain = (text: string): Asked => ({ text, params: [] })

/** A transaction without a round trip in it: COMMIT of one that was refused rolls it back. */
function pipelined(db: Database, statements: readonly Asked[]): Promise<Row[][]> {
  return db.sql.hold(async session => {
    const sent = [plain('BEGIN'), ...statements, plain('COMMIT')].map(one => ask(session, one))
    return (await all(sent)).slice(1, -1)
  })
}

const isRefused = (error: unknown) => /^(23|P0)/.test(String((error as { code?: unknown }).code))

/** As group-commit.ts: those of an account that come meanwhile go together; a refused group one by one. */
function grouped(
  together: (jobs: readonly Job[]) => Promise<(Row | undefined)[]>,
  { most = 64, lanes = 0 } = {},
): Shape['write'] {
  type Waiting = { job: Job; resolve(row: Row | undefined): void; reject(error: unknown): void }
  const waiting = new Map<string, Waiting[]>()
  const carryOut = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const rows = await together(group.map(({ job }) => job))
      for (const [index, { resolve }] of group.entries()) resolve(rows[index])
    } catch (error) {
      if (!isRefused(error)) for (const { reject } of group) reject(error)
      else if (group.length === 1) group[0]!.resolve(undefined)
      else for (const one of group) await carryOut([one])
    }
  }
  return job =>
    new Promise((resolve, reject) => {
      const one = { job, resolve, reject }
      const key = lanes ? String(Number(job.account) % lanes) : job.account
      const line = waiting.get(key)
      if (line) return void line.push(one)
      const own = [one]
      waiting.set(key, own)
      void (async () => {
        while (own.length > 0) await carryOut(own.splice(0, most))
        waiting.delete(key)
      })()
    })
}

/** A: today's statement; what is committed together is asked by `send`. */
function todays(text: string) {
  // So that an update can follow another without reading in between.
  const known = text.includes('INSERT INTO "deal"')
    ? text
    : text
        .replace('RETURNING "deal".*', 'RETURNING "deal".*, "deal".xmin::text AS state')
        .replace('AS record FROM r)', 'AS record, r.state FROM r)')
  return (job: Job): Asked => ({ text: known, params: job.params })
}

export function shapesOf(db: Database, { text }: Captured): Shape[] {
  const parts = partsOf(text)
  const today = todays(text)
  const commits = new GroupCommit({
    ...{ sql: db.sql, isRefused, shouldPrepare: () => true },
    isShared: db.engine === 'embedded',
  })
  const [lock, counter, row, events] = [lockSql, counterSql, rowSql, eventsSql].map(sql =>
    statement(sql(parts)),
  )
  const takesIds = parts.kind === 'create'
  const count = (jobs: readonly Job[]) => ({
    ids: String(takesIds ? jobs.length : 0),
    events: String(jobs.length),
  })
  const told = (jobs: readonly Job[]): Values => ({
    backs: `{${jobs.map((_job, index) => jobs.length - 1 - index).join(',')}}`,
    changed: arrayOf(jobs.map(job => job.params.at(-1)!)),
    actors: arrayOf(jobs.map(job => at(job, parts.actor))),
    recordIds: arrayOf(jobs.map(job => (parts.kind === 'create' ? null : at(job, parts.id)))),
    versions: arrayOf(jobs.map(job => (parts.kind === 'create' ? null : at(job, parts.read)))),
  })
  const rows = (jobs: readonly Job[]) =>
    jobs.map((job, index) => row!(job, { back: String(jobs.length - 1 - index) }))

  /** Accounts in their order, so that no two groups wait for each other. */
  const todaysTogether = async (jobs: readonly Job[]) => {
    const order = [...jobs.keys()].sort(
      (one, other) => Number(jobs[one]!.account) - Number(jobs[other]!.account),
    )
    const asked = order.map(index => today(jobs[index]!))
    const answers =
      asked.length === 1 ? [await ask({ ask: db.sql.unsafe }, asked[0]!)] : await pipelined(db, asked)
    const rows: (Row | undefined)[] = []
    for (const [place, index] of order.entries()) rows[index] = answers[place]![0]
    return rows
  }
  /** All statements of each write, one write after the other. */
  const each = async (jobs: readonly Job[]) => {
    const asked = jobs.flatMap(job => [
      counter!(job, count([job])),
      row!(job, { back: '0' }),
      events!(job, told([job])),
    ])
    const answers = await pipelined(db, [lock!(jobs[0]!), ...asked])
    return jobs.map((_job, index) => answers[2 + 3 * index]![0])
  }
  /** The counter and the events of all of an account at once. */
  const shared = async (jobs: readonly Job[]) => {
    const asked: Asked[] = []
    const places = new Map<Job, number>()
    const accounts = Map.groupBy(jobs, ({ account }) => Number(account))
    for (const [, own] of [...accounts].sort(([one], [other]) => one - other)) {
      const one = merged(parts, own)
      for (const [index, job] of own.entries()) places.set(job, asked.length + 2 + index)
      asked.push(lock!(one), counter!(one, count(own)), ...rows(own), events!(one, told(own)))
    }
    const answers = await pipelined(db, asked)
    return jobs.map(job => answers[places.get(job)!]![0])
  }
  const bulk = parts.kind === 'create' ? statement(bulkSql(parts)) : null
  /** The same after a round trip that tells ids and the moment, so that the rows are one INSERT. */
  const inBulk = (jobs: readonly Job[]) =>
    db.sql.hold(async session => {
      const one = merged(parts, jobs)
      const first = [plain('BEGIN'), lock!(one), counter!(one, count(jobs))].map(asked => ask(session, asked))
      const [, , counted] = await all(first).catch(async error => {
        await session.ask('ROLLBACK', [])
        throw error
      })
      const { last_id, last_at } = counted![0]!
      const own: Record<string, string | null> = { ...told(jobs), last: last_id!, at: last_at! }
      for (const index of one.params.keys())
        own[`a${index + 1}`] = arrayOf(jobs.map(job => job.params[index]!))
      const written = bulk ? [bulk(one, own)] : rows(jobs)
      const rest = [...written, events!(one, told(jobs)), plain('COMMIT')].map(asked => ask(session, asked))
      const answers = await all(rest)
      return jobs.map((_job, index) => (bulk ? answers[0]![index] : answers[index]![0]))
    })

  const call = (jobs: readonly Job[]) =>
    jobs.map(({ params }) => ({
      text: `SELECT ${answered} FROM shape_${parts.kind}($1::text[])`,
      params: [arrayOf(params)],
    }))
  const functionEach = async (jobs: readonly Job[]) => {
    const calls = call(jobs)
    const answers =
      calls.length === 1 ? [await ask({ ask: db.sql.unsafe }, calls[0]!)] : await pipelined(db, calls)
    return answers.map(([found]) => found)
  }
  const functionGroup = async (jobs: readonly Job[]) => {
    const params = [
      arrayOf(merged(parts, jobs).params),
      `{${jobs.map(job => arrayOf(job.params)).join(',')}}`,
    ]
    const text = `SELECT ${answered} FROM shape_${parts.kind}_group($1::text[], $2::text[])`
    return ask({ ask: db.sql.unsafe }, { text, params })
  }

  const hand = statement(handSql(parts))
  return [
    {
      ...{ name: 'a: one statement, today', isWhole: true },
      write: async job =>
        (await commits.write(job.account, today(job).text, job.params))[0] as Row | undefined,
    },
    {
      ...{ name: 'a, BEGIN and COMMIT in the pipeline', isWhole: true },
      write: grouped(todaysTogether),
    },
    {
      ...{ name: 'a, the same, all accounts in two lanes', isWhole: true },
      write: grouped(todaysTogether, { lanes: 2 }),
    },
    { name: 'b1: plain statements, a commit each', isWhole: true, write: grouped(each, { most: 1 }) },
    { name: 'b2: plain statements, in groups', isWhole: true, write: grouped(each) },
    { name: 'b3: counter and events once a group', isWhole: true, write: grouped(shared) },
    { name: 'b3, all accounts in two lanes', isWhole: true, write: grouped(shared, { lanes: 2 }) },
    { name: 'b4: b3 with a round trip, rows in bulk', isWhole: true, write: grouped(inBulk) },
    { name: 'c1: a function a write, in groups', isWhole: true, write: grouped(functionEach) },
    { name: 'c2: a function a group', isWhole: true, write: grouped(functionGroup) },
    {
      ...{ name: 'd1: the row alone, a commit each', isWhole: false },
      write: async job => (await ask({ ask: db.sql.unsafe }, hand(job)))[0],
    },
    {
      ...{ name: 'd2: the row alone, in groups', isWhole: false },
      write: grouped(async jobs =>
        (
          await pipelined(
            db,
            jobs.map(job => hand(job)),
          )
        ).map(([found]) => found),
      ),
    },
  ]
}

/** What somebody writes by hand: no counter, no event, no version to check, no references to ask. */
function handSql(parts: Parts): string {
  const now = (text: string) => text.replaceAll(/(?:counted|locked)\.at/g, 'now()')
  if (parts.kind === 'create')
    return `INSERT INTO "deal" AS r (${parts.columns})
  VALUES (${now(parts.values).replace('counted.last_id', "nextval('plain_deal')")}) RETURNING ${parts.answer}`
  return `UPDATE "deal" AS r SET version = r.version + 1, ${now(parts.set)}
  WHERE r.account_id = ${parts.account}::bigint AND r.id = ${parts.id}::bigint
  RETURNING ${parts.answer}, r.xmin::text AS state`
}

const answered = 'o_id AS id, o_version AS version, o_record AS record, o_state AS state'

/** The functions of C and the sequence of D. `p` has today's parameters. */
export function preparations(texts: readonly string[]): string[] {
  return ['CREATE SEQUENCE plain_deal START 10000000', ...texts.map(partsOf).flatMap(functionsOf)]
}

function functionsOf(parts: Parts): string[] {
  const { kind, account, actor, answer, changes } = parts
  const p = (sql: string, name = 'p') => sql.replaceAll(/\$(\d+)/g, `${name}[$1]`)
  const from = (sql: string) =>
    sql.replaceAll(/(?:counted|locked)\.at/g, 'k.last_at').replace('counted.last_id', 'k.last_id - back')
  const into = 'INTO o_id, o_version, o_record'
  const write =
    parts.kind === 'create'
      ? `INSERT INTO "deal" AS r (${parts.columns}) VALUES (${p(from(parts.values))})
      RETURNING ${answer} ${into};`
      : `UPDATE "deal" AS r SET version = r.version + 1, ${p(from(parts.set))}
      WHERE ${p(`r.account_id = ${account}::bigint AND r.id = ${parts.id}::bigint`)}
        AND ${p(`r.version = ${parts.read}::int AND r.xmin = ${parts.state}::xid`)} AND r.deleted_at IS NULL
      RETURNING ${answer}, r.xmin::text ${into}, o_state;
      IF NOT FOUND THEN RAISE EXCEPTION 'changed'; END IF;`
  const body = `${write}
    INSERT INTO event (account_id, seq, type, resource, record_id, version, actor, at, changes)
    VALUES (${p(account)}::bigint, k.last_seq - back, 'deal.${kind}d', 'deal', o_id::bigint, o_version::int,
      ${p(actor)}::bigint, k.last_at, ${p(from(changes))}::jsonb);
    RETURN NEXT;`
  const counter = (many: string, of: string) => {
    const own = { ids: kind === 'create' ? many : '0', events: many }
    const sql = counterSql(parts).replace(
      / {2}RETURNING.*$/s,
      '  RETURNING c.last_id, c.last_seq, c.last_at INTO k;',
    )
    return `PERFORM 1 FROM counter WHERE account_id = ${p(account, of)}::bigint FOR UPDATE;
    ${p(sql.replace('{ids}', own.ids).replace('{events}', own.events), of)}`
  }
  const head = (name: string, params: string) =>
    `CREATE FUNCTION shape_${kind}${name}(${params}) RETURNS TABLE (o_id text, o_version text, o_record text,
    o_state text) LANGUAGE plpgsql AS $code$ #variable_conflict use_column`
  return [
    `${head('', 'p text[]')}
    DECLARE k record; back int := 0;
    BEGIN
    ${counter('1', 'p')}
    ${body}
    END $code$`,
    `${head('_group', 'q text[], ps text[]')}
    DECLARE k record; p text[]; back int := array_length(ps, 1);
    BEGIN
    ${counter('array_length(ps, 1)', 'q')}
    FOREACH p SLICE 1 IN ARRAY ps LOOP
    back := back - 1;
    ${body}
    END LOOP;
    END $code$`,
  ]
}
