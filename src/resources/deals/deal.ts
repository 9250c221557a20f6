/**
 * The deal: its rules that span fields (the interface's rules 2 to 5, D19 to D24). Pure; knows no HTTP and no
 * SQL.
 */
import type { Catalog, Currency, Stage } from '../../fields/catalog.ts'
import { type Decimal, decimal, decimalJson, rounded } from '../../fields/decimal.ts'
import type { Values } from '../../fields/field.ts'
import { choiceHint, optionHint } from '../../fields/kinds/dropdown.ts'
import { moneyRange } from '../../fields/kinds/product-lines.ts'
import type { Draft, Resource } from '../../fields/resource.ts'
import { isObject, isSameJson, type Json } from '../../json.ts'
import { dealFields } from './fields.ts'
import { checkWorth, completedLines, warnOfOwnValue } from './lines.ts'

export const deal: Resource = {
  name: 'deal',
  source: { id: 1, name: 'Deal' },
  fields: dealFields,
  shownAs: ['title'],
  isBusinessData: true,
  searched: [],
  parts: ['activity'],
  maintained: { document: 'activities_document', movedAt: 'activities_moved_at' },
  ownership: { owner: 'sales_owner', territory: 'territory' },
  whyReadOnly: explainStatus,
  aliases: alsoOf,
  applyRules: applyDealRules,
}

/** The ids of the static dropdown `status`. */
export const statusOf = { open: 1, won: 2, lost: 3 } as const

/** A status needs a stage of that kind (D19). A probability is that of the stage. */
function explainStatus(field: string, sent: Json, { pipeline }: Values, { stages }: Catalog): string | null {
  if (field === 'stage_probability')
    return 'The stage decides on it: set pipeline_stage, or the probability of the stage.'
  const kind = (['open', 'won', 'lost'] as const).find(
    word => statusOf[word] === sent || (typeof sent === 'string' && sent.toLowerCase() === word),
  )
  if (field !== 'status' || !kind) return null
  const fitting = [...stages.values()].filter(
    stage => stage.kind === kind && (typeof pipeline !== 'number' || stage.pipeline === pipeline),
  )
  const named = fitting.slice(0, 5).map(({ id, name }) => `${id} (${name})`)
  return `The stage decides on the status${named.length ? `: set pipeline_stage to ${named.join(' or ')}` : ''}.`
}

/** The number of the rule for closing a deal as won or lost, and the other way of closing it. */
const closings = { won: { rule: 2, other: 'lost' }, lost: { rule: 3, other: 'won' } } as const

function applyDealRules(draft: Draft): void {
  const { after, before } = draft
  const stage = stageOf(draft)
  if (stage) {
    applyStage(draft, stage)
    if (stage.kind === 'open') reopen(draft)
    else close(draft, stage.kind)
  }
  if (after.forecast_category !== null && after.expected_close_date === null) {
    draft.problem(
      'expected_close_date',
      'required_with_forecast_category',
      'is required when a forecast category is selected',
      { rule: 5, because: 'forecast_category', hint: 'For example "2026-03-31".' },
    )
  }
  if (after.sales_owner !== before?.sales_owner) after.last_assigned_at = draft.momentPlaceholder
  applyMoneyRules(draft)
}

/** The stage that the deal would be in. Null, and a problem, if it belongs to another pipeline (D19). */
function stageOf({ after, catalog, problem }: Draft): Stage | null {
  const stage = catalog.stages.get(after.pipeline_stage as number)
  if (!stage || after.pipeline === null || stage.pipeline === after.pipeline) return stage ?? null
  const stages = [...catalog.stages.values()].filter(other => other.pipeline === after.pipeline)
  problem('pipeline_stage', 'stage_not_in_pipeline', `is "${stage.name}", a stage of another pipeline`, {
    because: 'pipeline',
    hint: stages.length
      ? choiceHint('Its stages', stages)
      : 'The pipeline has no stages yet: make them with POST …/pipeline_stage.',
  })
  return null
}

function applyStage({ after, before, momentPlaceholder }: Draft, stage: Stage): void {
  if (stage.id !== before?.pipeline_stage) after.deal_stage_updated_at = momentPlaceholder
  after.status = statusOf[stage.kind]
  after.stage_probability = stage.probability
  after.stage_rotting_days = stage.rotting_days
}

/** The aliases of a deal's event (D69). */
function alsoOf(before: Values | null, after: Values): string[] {
  const becomes = (status: number) => after.status === status && before?.status !== status
  return [
    ...(before && before.pipeline_stage !== after.pipeline_stage ? ['deal.stage_changed'] : []),
    ...(becomes(statusOf.won) ? ['deal.won'] : []),
    ...(becomes(statusOf.lost) ? ['deal.lost'] : []),
    ...(before && becomes(statusOf.open) ? ['deal.reopened'] : []),
    ...(before && before.sales_owner !== after.sales_owner ? ['deal.owner_changed'] : []),
  ]
}

/** A reopened deal loses reason, date and times, unless the request sets them (D20). */
function reopen(draft: Draft): void {
  const { after, before } = draft
  if (!before || before.status === statusOf.open) return
  for (const name of ['won_reason', 'lost_reason', 'deal_closed_on'])
    if (!isGiven(draft, name)) after[name] = null
  after.won_time = null
  after.lost_time = null
}

/**
 * Rules 2 to 4. A change between won and lost is a new closing: its reason and date must come with it (D20).
 */
function close(draft: Draft, kind: 'won' | 'lost'): void {
  const { after, before, catalog } = draft
  const { rule, other } = closings[kind]
  const isNew = before?.status !== statusOf[kind]
  const isReversed = isNew && before !== null && before.status !== statusOf.open
  for (const name of [`${kind}_reason`, 'deal_closed_on']) {
    if (after[name] === null || (isReversed && !isGiven(draft, name))) {
      const because = isReversed ? 'must be given again' : 'is required'
      draft.problem(
        name,
        `required_when_${kind}`,
        `${because} when the stage is ${kind === 'won' ? 'Won' : 'Lost'}`,
        { rule, because: 'pipeline_stage', hint: () => closingHint(name, catalog) },
      )
    }
  }
  if (!isNew) return
  after[`${kind}_time`] = draft.momentPlaceholder
  after[`${other}_time`] = null
  if (isReversed && !isGiven(draft, `${other}_reason`)) after[`${other}_reason`] = null
}

/** True if the request sets a field. An undo sets all fields (D83). */
function isGiven({ sent, undoes }: Draft, name: string): boolean {
  return undoes !== null || sent.has(name)
}

function closingHint(name: string, { resources }: Catalog): string {
  const { options } = resources.get('deal')!.byName.get(name)!
  return options.length ? optionHint('', options) : 'For example "2026-03-31".'
}

/** D24: values that follow from the deal's value. */
function applyMoneyRules(draft: Draft): void {
  const { after, catalog } = draft
  const value = isObject(after.deal_value) ? after.deal_value : null
  const currency = value && catalog.currencies.get(value.currency as number)
  if (!value || !currency) {
    after.weighted_value = null
    after.product_amount = null
    after.product_quantity = 0
    after.deal_value_in_base_currency = null
    return
  }
  const { lines, amount: linesAmount, quantity } = completedLines(draft, value.products as Json[], currency)
  const followsLines = value.value === null
  const amount = followsLines ? linesAmount : decimal(value.value)!
  if (followsLines) warnOfOwnValue(draft, linesAmount)
  const { config } = catalog.resources.get('deal')!.byName.get('deal_value')!
  checkWorth(draft, linesAmount, '/products', followsLines ? config : moneyRange)
  after.deal_value = { ...value, value: decimalJson(amount), products: lines }
  const probability = (after.stage_probability as number | null) ?? 0
  after.weighted_value = moneyOf(currency, amount.times(probability).div(100))
  after.product_amount = moneyOf(currency, linesAmount)
  after.product_quantity = decimalJson(quantity)
  const kept = keptBase(draft)
  after.deal_value_in_base_currency = kept === undefined ? inBase(currency, amount, catalog) : kept
}

/**
 * The stored base amount of a closed deal (D24); undefined if it follows the current rate. An undo restores
 * it, if only the change to undo has changed it (D83).
 */
function keptBase(draft: Draft): Json | undefined {
  const { after, before, undoes, catalog } = draft
  if (isFrozen(draft)) return before!.deal_value_in_base_currency
  if (!undoes || after.status === statusOf.open) return undefined
  const { deal_value_in_base_currency: former, status } = undoes.former
  const made = undoes.made.deal_value_in_base_currency ?? null
  // The event left it alone, also if it closed the deal otherwise.
  if (former === undefined && before!.status !== statusOf.open) return before!.deal_value_in_base_currency
  const isOwn = status !== undefined || isSameJson(before!.deal_value_in_base_currency!, made)
  // An amount in a former base currency is no longer valid.
  const isInBase = !isObject(former) || former.currency === catalog.account.base_currency
  return isOwn && isInBase ? former : undefined
}

/**
 * True if a closed deal keeps the base amount of the day it was closed: its value has not changed. Its lines
 * may have.
 */
function isFrozen({ after, before }: Draft): boolean {
  if (!before || before.status === statusOf.open || before.status !== after.status) return false
  const [was, is] = [before.deal_value!, after.deal_value!]
  return isObject(was) && isObject(is) && was.currency === is.currency && isSameJson(was.value!, is.value!)
}

function inBase(currency: Currency, amount: Decimal, catalog: Catalog): Json {
  const base = catalog.currencies.get(catalog.account.base_currency)
  const rate = currency.id === base?.id ? decimal(1) : decimal(currency.rate)
  return base && rate ? moneyOf(base, amount.times(rate)) : null
}

function moneyOf(currency: Currency, amount: Decimal): Json {
  return {
    currency: currency.id,
    currency_code: currency.code,
    value: decimalJson(rounded(amount, currency.decimals)),
  }
}
