/** The parameters of the feed → a request (D71). Knows no SQL. */
import { type Problems, Refusal } from '../errors.ts'
import type { Catalog } from '../fields/catalog.ts'
import { suggestion } from '../fields/nearest.ts'
import {
  addProblem,
  oneOf,
  type Parameters,
  single,
  throwProblems,
  unknownParameters,
} from '../lists/parameters.ts'
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
}

const parametersOfFeed = ['after', 'limit', 'resource', 'type', 'wait', 'record']
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
  const problems = unknownParameters(parameters, parametersOfFeed)
  const after = numberOf(parameters, 'after', 0, Number.MAX_SAFE_INTEGER, problems)
  const limit = numberOf(parameters, 'limit', 1, limitMax, problems) ?? limitDefault
  const wait = numberOf(parameters, 'wait', 0, waitMax, problems) ?? 0
  const known = [...catalog.resources.keys(), configuration]
  const sent = listed(parameters, 'resource', problems)
  for (const name of sent?.filter(name => !known.includes(name)) ?? []) {
    const hint = () => suggestion(name, known, `The resources: ${known.join(', ')}.`)
    addProblem(problems, 'resource', 'unknown_resource', `There is no resource "${name}".`, { hint })
  }
  const types = listed(parameters, 'type', problems)
  const knownTypes = shownTypes(typesOf(catalog.resources.keys()), catalog)
  for (const type of types?.filter(type => !knownTypes.includes(type)) ?? []) {
    const hint = () => suggestion(type, knownTypes, typeExamples)
    addProblem(problems, 'type', 'invalid_value', `"${type}" is not a type of event.`, { hint })
  }
  const withRecord = oneOf(parameters, 'record', ['1'], problems) !== null
  throwProblems(problems, 'The feed could not be read.')
  return { after, limit, resources: followed(sent, known, catalog, rights), types, wait, withRecord }
}

/** True if a caller may follow the events of all that they may read (D71). */
export function mayFollow({ resources }: Catalog, { scopes }: Rights): boolean {
  const isSeen = (name: string) => isPrivate(name, resources) || !isLimited(resources.get(name)!)
  const readable = [...resources.keys()].filter(name => allows(scopes, `${name}:read`))
  return allows(scopes, 'event:read') && readable.every(isSeen)
}

function numberOf(
  parameters: Parameters,
  name: string,
  min: number,
  max: number,
  problems: Problems,
): number | null {
  const text = single(parameters, name, problems)
  if (text === null) return null
  const value = Number(text)
  if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value
  const limit = max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''
  addProblem(problems, name, 'invalid_value', `${name} must be a whole number from ${min}${limit}.`)
  return null
}

function listed(parameters: Parameters, name: string, problems: Problems): string[] | null {
  const text = single(parameters, name, problems)
  return text === null ? null : [...new Set(text.split(',').map(one => one.trim()))]
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
