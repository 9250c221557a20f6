/** The kinds of items in an inbox (D156), and a person's settings of them. Pure; knows no SQL. */
import { type ProblemCode, Problems, Refusal } from '../errors.ts'
import { isObject, type Json, type JsonObject, pointerStep } from '../json.ts'

/** Mentions, what was assigned, what is due, deals that rot, and jobs that failed. */
export const itemKinds = ['mention', 'assignment', 'due', 'rotting', 'job'] as const
export type ItemKind = (typeof itemKinds)[number]

/** Where a kind is shown. Mail is not among them yet. */
export const channels = ['app'] as const

export type Settings = {
  /** the channels of each kind; none: it is not shown */
  readonly kinds: { readonly [kind in ItemKind]: readonly string[] }
  /** when no reminder pops up, by the person's clock ("18:00" to "08:00"); null: never */
  readonly quiet: { readonly from: string; readonly to: string } | null
}

/** A change from a body: of these kinds, and of the hours unless they are undefined. */
export type SettingsChange = {
  readonly kinds: Partial<Settings['kinds']>
  readonly quiet: Settings['quiet'] | undefined
}

/** Settings from the stored channels; a kind that is not among them is shown. */
export function settingsOf(chosen: JsonObject, quiet: Settings['quiet']): Settings {
  const kinds = Object.fromEntries(itemKinds.map(kind => [kind, chosen[kind] ?? [...channels]]))
  return { kinds: kinds as unknown as Settings['kinds'], quiet }
}

/** The kinds that a person is shown. */
export function shownKinds({ kinds }: Settings): ItemKind[] {
  return itemKinds.filter(kind => kinds[kind].includes('app'))
}

/** The change of settings in a body. Throws `validation_failed` with every problem. */
export function settingsChangeOf(body: Json): SettingsChange {
  const problems = new Problems()
  const refuse = (path: string, code: ProblemCode, message: string) =>
    problems.add(() => ({ field: path.split('/')[1] ?? null, path, code, message }))
  const known = (value: JsonObject, names: readonly string[], at: string) => {
    for (const name of Object.keys(value))
      if (!names.includes(name))
        refuse(
          `${at}/${pointerStep(name)}`,
          'unknown_field',
          `There is no member "${name}". The members: ${names.join(', ')}.`,
        )
  }
  const sent = isObject(body) ? body : null
  if (!sent) refuse('', 'wrong_type', 'The body must be an object with "kinds" or "quiet".')
  else known(sent, ['kinds', 'quiet'], '')
  const kinds: { [kind in ItemKind]?: readonly string[] } = {}
  const chosen = sent?.kinds
  if (isObject(chosen)) {
    known(chosen, itemKinds, '/kinds')
    for (const kind of itemKinds) {
      if (chosen[kind] === undefined) continue
      if (isChannels(chosen[kind])) kinds[kind] = chosen[kind]
      else refuse(`/kinds/${kind}`, 'invalid_value', `/kinds/${kind} must be ["app"], or [] for none.`)
    }
  } else if (chosen !== undefined) refuse('/kinds', 'wrong_type', '/kinds must be an object.')
  const isQuiet = isHours(sent?.quiet)
  if (sent?.quiet !== undefined && sent.quiet !== null && !isQuiet)
    refuse('/quiet', 'invalid_value', '/quiet must be null, or {"from": "18:00", "to": "08:00"}.')
  if (problems.count) throw new Refusal('validation_failed', 'The settings were not changed.', problems)
  return { kinds, quiet: sent?.quiet as SettingsChange['quiet'] }
}

function isChannels(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.length <= channels.length && value.every(one => one === 'app')
}

function isHours(value: Json | undefined): boolean {
  const isTime = (time: Json | undefined) =>
    typeof time === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(time)
  if (value === undefined || !isObject(value)) return false
  const { from, to, ...others } = value
  return isTime(from) && isTime(to) && from !== to && Object.keys(others).length === 0
}
