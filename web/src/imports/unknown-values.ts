/**
 * Texts of a file that name something of the account: an option, a stage, a user. Finds the unknown ones, and
 * possible values for them.
 */
import { useQueries } from '@tanstack/react-query'
import type { AnyRecord, Field } from '../api/api.ts'
import { allQuery, mayRead } from '../api/queries.ts'
import { hasOwnOptions } from '../fields/custom-types.ts'
import { textOf } from './cells.ts'
import type { Import, Target } from './import.ts'
import { type MissingOptions, missingOptionsOf } from './new-options.ts'

export type Choice = { readonly id: string | number; readonly name: string }
/** A target with its possible values, and the texts that are none of them. */
export type UnknownValues = {
  readonly field: string
  readonly label: string
  readonly choices: readonly Choice[]
  readonly texts: readonly string[]
  /** number of further texts, which are not listed */
  readonly left: number
  /** options that could be added; null: none */
  readonly missingOptions: MissingOptions | null
}

/** The resources that have few records, each with a name of its own. */
const named = ['pipeline', 'pipeline_stage', 'user', 'territory', 'tag', 'currency']

type Known = { readonly choices: readonly Choice[]; readonly spellings: ReadonlySet<string> }

/**
 * The unknown values of each mapped target; targets that take any text are left out. Null until the possible
 * values are read.
 */
export function useUnknownValues(job: Import, fields: readonly Field[]) {
  const { mapping, targets, columns, values } = job
  const sources = new Map(mapping.map(({ field }) => [field, sourceOf(field, fields)]))
  const wanted = [...new Set([...sources.values()].filter(source => source !== null))]
  const lists = useQueries({ queries: wanted.map(source => allQuery<AnyRecord>(source)) })
  // Without them, each value would be unknown.
  if (lists.some(({ data }) => data === undefined)) return { reads: lists, unclear: null }
  const bySource = new Map(wanted.map((source, index) => [source, lists[index]?.data ?? []]))
  const unclear = mapping.flatMap(({ column, field }): UnknownValues[] => {
    const target = targets.find(one => one.field === field)
    if (!target) return []
    const source = sources.get(field) ?? null
    const own = fields.find(({ internal_name }) => internal_name === field)
    const known = knownOf(target, own, source, bySource)
    if (!known) return []
    const samples = (columns[column]?.samples ?? []).map(textOf).flatMap(itemsOf)
    // An option may have been created since. Other names may be ambiguous.
    const refused = refusedTexts(job, field).filter(text => source !== null || !names(text, known))
    const ofFile = job.values_to_map
      .filter(one => one.field === field)
      .flatMap(one => one.texts.map(({ text }) => text))
      .filter(text => !names(text, known))
    const mapped = Object.keys(values[field] ?? {})
    const unknown = samples.filter(text => !names(text, known))
    const all = [...new Set([...mapped, ...refused, ...unknown, ...ofFile])]
    const texts = all.slice(0, textsMax)
    const left = all.length - texts.length
    const missingOptions = missingOptionsOf(own, known.choices, text => names(text, known))
    const { label } = target
    return texts.length ? [{ field, label, choices: known.choices, texts, left, missingOptions }] : []
  })
  return { reads: lists, unclear }
}

const textsMax = 200

/** True if a text is a known value, or a comma-separated list of them. */
function names(text: string, { spellings }: Known): boolean {
  const isKnown = (one: string) => spellings.has(one.trim().toLocaleLowerCase())
  return isKnown(text) || (text.includes(',') && text.split(',').every(isKnown))
}

/** The small resource of a target, if it has one. */
function sourceOf(target: string, fields: readonly Field[]): string | null {
  if (/\.currency$/.test(target)) return mayRead('currency') ? 'currency' : null
  const field = fields.find(({ internal_name }) => internal_name === target)
  const source = field?.related_field?.source
  return source && named.includes(source) && mayRead(source) ? source : null
}

function knownOf(
  target: Target,
  own: Field | undefined,
  source: string | null,
  bySource: ReadonlyMap<string, readonly AnyRecord[]>,
): Known | null {
  const options = target.options ?? own?.options ?? []
  if (source === null) {
    if (!options.length && !(own && hasOwnOptions(own))) return null
    const isYesNo = options.length === 2 && options.every(({ name }) => name === 'Yes' || name === 'No')
    return knownBy(
      options.map(({ id, name }) => ({ id, name: name ?? '' })),
      isYesNo ? yesNo : [],
    )
  }
  const records = bySource.get(source) ?? []
  if (source === 'currency')
    return knownBy(
      records.map(({ code, name }) => ({ id: String(code), name: `${code} · ${name}` })),
      records.map(({ symbol }) => String(symbol)),
    )
  const pipelines = new Map((bySource.get('pipeline') ?? []).map(({ id, name }) => [id, name]))
  const choices = records.map(({ id, name, email, pipeline }) => {
    const own = email ? `${name} (${email})` : String(name)
    return { id, name: pipelines.size > 1 && pipeline ? `${pipelines.get(Number(pipeline))} · ${own}` : own }
  })
  return knownBy(
    choices,
    records.flatMap(({ name, email }) => [String(name), ...(email ? [String(email)] : [])]),
  )
}

const yesNo = ['y', 'true', 't', 'x', '1', 'on', 'n', 'false', 'f', '0', 'off', 'ja', 'nein', 'oui', 'non']

function knownBy(choices: readonly Choice[], more: readonly string[]): Known {
  const all = [...choices.flatMap(({ id, name }) => [String(id), name]), ...more]
  return { choices, spellings: new Set(all.map(text => text.toLocaleLowerCase())) }
}

/** The texts for which rows were refused, as quoted by the service. */
function refusedTexts({ problems, phase }: Import, field: string): readonly string[] {
  if (phase !== 'dry_run') return []
  return problems.flatMap(one =>
    one.problems.flatMap(problem => {
      if (problem.field !== field || !/^(unknown_option|reference_not_found)$/.test(problem.code)) return []
      const quoted = / is ("(?:[^"\\]|\\.)*"), but there is no /.exec(problem.message)?.[1]
      const text = quoted ? unquoted(quoted) : undefined
      return text === undefined ? [] : [text]
    }),
  )
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A cell may have several values. */
function itemsOf(text: string): readonly string[] {
  return text
    .split(/[;\r\n]/)
    .map(item => item.trim())
    .filter(item => item !== '')
}
