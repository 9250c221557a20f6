/** Validates the limits that an account sets for a field (D36): each within the interface's. Pure. */
import type { FieldRow } from '../fields/catalog.ts'
import { decimal } from '../fields/decimal.ts'
import type { Config, Field } from '../fields/field.ts'
import { kinds } from '../fields/kinds.ts'
import { suggestion } from '../fields/nearest.ts'
import { isObject, isRawNumber, type Json, type JsonObject, pointerStep } from '../json.ts'
import { booleanOf, type Validation } from './validation.ts'

/**
 * The limits of a body, each within the interface's. Null restores the interface's limit. Only custom fields
 * can be case-sensitive (D76): names of the service's own fields are matched in any case.
 */
export function limited(
  sent: Json,
  row: FieldRow,
  definition: Field | undefined,
  validation: Validation,
): Config {
  const bounds: Config = definition?.config ?? kinds[row.type].custom!
  if (!isObject(sent)) {
    validation.reject('/config', 'wrong_type', 'must be an object of limits')
    return row.config
  }
  const all: readonly string[] = kinds[row.type].limits ?? []
  const known = definition ? all.filter(name => name !== 'case_sensitive') : all
  const config: { [name: string]: Json } = { ...(row.config as JsonObject) }
  for (const [name, value] of Object.entries(sent)) {
    const path = `/config/${pointerStep(name)}`
    const bound = (bounds as JsonObject)[name] ?? null
    // A descriptor can be sent back unchanged, even with limits that an account can't set.
    if (Object.hasOwn(config, name) && isSameLimit(value, config[name]!)) continue
    if (!known.includes(name)) {
      const has = known.length ? `It has: ${known.join(', ')}.` : `${row.type} has no limits to set.`
      const hint = () => suggestion(name, known, has)
      validation.reject(path, 'unknown_field', 'is not a limit that can be set', hint)
    } else if (value === null) {
      delete config[name]
      if (bound !== null) config[name] = bound
    } else if (name === 'case_sensitive') {
      delete config[name]
      if (booleanOf(value, path, validation)) config[name] = true
    } else if (isLimit(name, value, path, validation) && isTighter(name, value, bound, path, validation))
      config[name] = value
  }
  for (const what of ['', '_length']) {
    const [low, high] = [decimal(config[`min${what}`]), decimal(config[`max${what}`])]
    if (low && high && low.gt(high))
      validation.reject(`/config/min${what}`, 'contradiction', `must not be above max${what}`)
  }
  return config as Config
}

/**
 * True if two limits are equal, also for a client whose numbers are doubles: the interface's largest amount
 * is not a double (D14).
 */
function isSameLimit(sent: Json, current: Json): boolean {
  const [a, b] = [decimal(sent), decimal(current)]
  return a && b ? a.toNumber() === b.toNumber() : JSON.stringify(sent) === JSON.stringify(current)
}

function isLimit(name: string, value: Json, path: string, validation: Validation): boolean {
  const number = typeof value === 'number' || isRawNumber(value) ? decimal(value) : null
  const isAmount = name === 'min' || name === 'max'
  const least = name === 'min_length' || name === 'max_decimals' ? 0 : 1
  if (number && (isAmount || (number.eq(number.round(0)) && number.gte(least) && number.lte(1_000_000))))
    return true
  validation.reject(
    path,
    'wrong_type',
    isAmount ? 'must be a number' : `must be a whole number from ${least}`,
  )
  return false
}

function isTighter(name: string, value: Json, bound: Json, path: string, validation: Validation): boolean {
  const [wanted, limit] = [decimal(value)!, decimal(bound)]
  const isUpper = name.startsWith('max')
  if (!limit || (isUpper ? wanted.lte(limit) : wanted.gte(limit))) return true
  const most = isUpper ? 'at most' : 'at least'
  validation.reject(path, 'loosens_limit', `must be ${most} the interface's ${limit.toFixed()}`)
  return false
}
