/** The parameters of the feed → a request (D71). Knows no SQL. */
import { Refusal } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { suggestion } from '../fields/nearest.ts'
import {
  addProblem,
  beginQuery,
  listed,
  oneOf,
  type Parameters,
  type Query,
  single,
  throwProblems,
} from '../lists/parameters.ts'
import { agentOrigin } from '../records/write/protocol.ts'
import type { Rights } from '../rights/rights.ts'
import { allows } from '../rights/scopes.ts'
import { isByRole, isLimited } from '../rights/visibility.ts'
import { shownTypes, typesOf } from './event-types.ts'

export type FeedRequest = {
  /** the last `seq` that the caller knows; null: none, from the oldest event on */
  readonly after: number | null
  readonly limit: number
  /** the resources whose events are requested */
  readonly resources: readonly string[]
  /** types and aliases; null: all */
  readonly types: readonly string[] | null
  /** time to wait for an event, in seconds */
  readonly wait: number
  readonly withRecord: boolean
  /** only what agents wrote (D148) */
  readonly isOfAgents: boolean
}

const parametersOfFeed = ['after', 'limit', 'resource', 'type', 'wait', 'record', 'origin']
const limitDefault = 100
export const limitMax = 1000
export const waitMax = 30
const typeExamples = 'For example deal.created, deal.updated, deal.won or deal.stage_changed.'
/** Changes of fields and forms. */
const configuration = 'field'

/**
 * Reads the parameters of the feed for a caller with these rights. Throws `unknown_parameter` or
 * `malformed_query` with every problem, and `forbidden` if the role may not follow the requested events.
 */
export function readFeedQuery(parameters: Parameters, catalog: Catalog, rights: Rights): FeedRequest {
  const query = beginQuery(parameters, parametersOfFeed)
  const { problems } = query
  const after = numberOf(query, 'after', 0, Number.MAX_SAFE_INTEGER)
  const limit = numberOf(query, 'limit', 1, limitMax) ?? limitDefault
  const wait = numberOf(query, 'wait', 0, waitMax) ?? 0
  const known = [...catalog.resources.keys(), configuration]
  const sent = listed(query, 'resource')
  for (const name of sent?.filter(name => !known.includes(name)) ?? []) {
    const hint = () => suggestion(name, known, `The resources: ${known.join(', ')}.`)
    addProblem(problems, 'resource', 'unknown_resource', `There is no resource "${name}".`, { hint })
  }
  const types = listed(query, 'type')
  const knownTypes = shownTypes(typesOf(catalog.resources.keys()), catalog)
  for (const type of types?.filter(type => !knownTypes.includes(type)) ?? []) {
    const hint = () => suggestion(type, knownTypes, typeExamples)
    addProblem(problems, 'type', 'invalid_value', `"${type}" is not a type of event.`, { hint })
  }
  const withRecord = oneOf(query, 'record', ['1']) !== null
  const isOfAgents = oneOf(query, 'origin', [agentOrigin]) !== null
  throwProblems(problems, 'The feed could not be read.')
  const resources = followed(sent, known, catalog, rights)
  return { after, limit, resources, types, wait, withRecord, isOfAgents }
}

/** True if a caller may follow the events of all that they may read (D71). */
export function mayFollow({ resources }: Catalog, { scopes }: Rights): boolean {
  const isSeen = (name: string) => isPrivate(name, resources) || !isLimited(resources.get(name)!)
  const readable = [...resources.keys()].filter(name => allows(scopes, `${name}:read`))
  return allows(scopes, 'event:read') && readable.every(isSeen)
}

function numberOf(query: Query, name: string, min: number, max: number): number | null {
  const { problems } = query
  // A number needs a value (D27).
  const text = single(query, name) ?? query.parameters.get(name)?.[0]
  if (text === undefined) return null
  const value = Number(text)
  if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value
  const limit = max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''
  addProblem(problems, name, 'invalid_value', `${name} must be a whole number from ${min}${limit}.`)
  return null
}

/**
 * The resources whose events the feed has. Unless named, resources are left out without the scope to read
 * them, and if they are private. A role that sees only some of the records can follow none: an event would
 * reveal the others (D71).
 */
function followed(
  named: readonly string[] | null,
  known: readonly string[],
  { resources }: Catalog,
  rights: Rights,
): string[] {
  for (const name of named ?? []) rights.need(`${name}:read`)
  const readable = named ?? known.filter(name => allows(rights.scopes, `${name}:read`))
  const isPartly = (name: string) => resources.has(name) && isLimited(resources.get(name)!)
  const partly = readable.find(name => isPartly(name) && (named || !isPrivate(name, resources)))
  if (partly) {
    const detail = `Your role sees only some of the records of ${partly}; whoever follows events sees all.`
    throw new Refusal('forbidden', detail)
  }
  return readable.filter(name => !isPartly(name))
}

function isPrivate(name: string, resources: Catalog['resources']): boolean {
  const ownership = resources.get(name)?.resource.ownership
  return ownership !== undefined && !isByRole(ownership)
}
