/**
 * Inactive users whom rows of an import name (D80): people who left still own what they closed. Requests
 * reject inactive users (D10, D75); an import accepts and counts them.
 */
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Json, JsonObject } from '../../json.ts'
import type { Match } from '../../records/name-lookup.ts'
import { matchesOfNames, type NamingCaller } from '../../records/names.ts'
import { readReferences, referenceStatesIn } from '../../records/references.ts'
import type { Transaction } from '../../records/store.ts'
import type { Work } from '../../records/work.ts'
import type { WriteContext } from '../../records/write/operation.ts'
import { mayRead } from '../../rights/rights.ts'
import { callerParamsOf } from '../../rights/visibility.ts'
import { otherUsers } from '../jobs/job.ts'

/** Maximum number of inactive users counted by name; the rest are counted together. */
const namedMax = 100

type RowBody = { readonly place: number; readonly body: JsonObject }

/** The inactive users whom rows name: id → name. */
export type InactiveUsers = ReadonlyMap<number, string>

/**
 * Replaces the names of users by ids: active users first, else inactive ones. A text with no match or several
 * stays, and its row is refused.
 */
export async function inactiveUsersOf(
  { db, schema, context }: Work,
  rows: readonly RowBody[],
): Promise<InactiveUsers> {
  const names = userFields(schema)
  const texts = new Set(rows.flatMap(({ body }) => names.flatMap(name => textOf(body[name]) ?? [])))
  if (texts.size === 0 || !mayRead(context, 'user')) return new Map()
  const { users, inactive } = await usersOf(db, context, [...texts])
  for (const { body } of rows)
    for (const name of names) {
      const user = users.get(textOf(body[name]) ?? '')
      // A number is an id and no name.
      if (user && typeof body[name] === 'string') body[name] = user.id
    }
  // A user who is named by the id may be inactive, too.
  const byId = new Set([...users].flatMap(([text, { id }]) => (/^\s*\d+\s*$/.test(text) ? [id] : [])))
  const asked = [...byId].map(id => ({ resource: 'user', id, field: '', path: '' }))
  const referenceState = referenceStatesIn(await readReferences(db, callerParamsOf(context), asked))
  const isInactive = (id: number) =>
    byId.has(id) ? referenceState('user', id) === 'inactive' : inactive.has(id)
  for (const { id } of users.values()) context.found?.add('user', id, isInactive(id) ? 'inactive' : 'live')
  return new Map([...users.values()].flatMap(({ id, name }) => (isInactive(id) ? [[id, name]] : [])))
}

/** Counts the rows that name each of the users. `counted`: the names that were counted before. */
export function countsOf(
  inactive: InactiveUsers,
  rows: readonly RowBody[],
  schema: ResourceSchema,
  counted: readonly string[],
): { [name: string]: number } {
  if (inactive.size === 0) return {}
  const names = userFields(schema)
  const counts = new Map<string, number>()
  const known = new Set(counted)
  for (const { body } of rows)
    for (const id of new Set(names.map(name => body[name] ?? null))) {
      const user = typeof id === 'number' ? inactive.get(id) : undefined
      if (user === undefined) continue
      const name = known.has(user) || known.size < namedMax ? user : otherUsers
      known.add(name)
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  return Object.fromEntries(counts)
}

function userFields({ fields }: ResourceSchema): string[] {
  return fields.filter(({ related }) => related === 'user').map(({ internal_name }) => internal_name)
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** The user of each text that means exactly one, and those found among the inactive ones. */
async function usersOf(db: Transaction, context: WriteContext, texts: readonly string[]) {
  const users = new Map<string, Match>()
  const unknown: string[] = []
  for (const [text, [user, ...more]] of await holdersOf(db, context, texts))
    if (!user) unknown.push(text)
    else if (more.length === 0) users.set(text, user)
  const left = unknown.length ? await holdersOf(db, { ...context, includesInactive: true }, unknown) : []
  const inactive = left.flatMap(([text, [user, ...more]]) =>
    user && more.length === 0 ? [{ text, user }] : [],
  )
  for (const { text, user } of inactive) users.set(text, user)
  return { users, inactive: new Set(inactive.map(({ user }) => user.id)) }
}

async function holdersOf(db: Transaction, context: NamingCaller, texts: readonly string[]) {
  const asked = texts.map(text => ({ resource: 'user', text, by: null }))
  const found = await matchesOfNames(db, context, asked)
  return texts.map((text, index) => [text, found[index]!] as const)
}
