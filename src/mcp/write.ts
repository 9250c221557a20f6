/** The tools that write records: create, update, log_activity. */
import { dateIn } from '../fields/iso8601.ts'
import { momentIn } from '../fields/local-times.ts'
import { asText, type Json, type JsonObject } from '../json.ts'
import { businessData } from '../resources/resources.ts'
import type { Api } from './api.ts'
import { daysMeant } from './days.ts'
import { recordNamed, textsOf } from './find.ts'
import { readRecord, where } from './read.ts'
import { ToolRefusal } from './refusal.ts'
import { expandable, nameOf, seenFields } from './rows.ts'
import { callText, schemaOf, type Tool, unchanged, warningsOf } from './tool.ts'
import { codeInput, inTwoSteps, type Plan } from './two-steps.ts'
import { type OwnValues, planMany } from './update-many.ts'
import { bodyOf, differences, filled, pinned } from './values.ts'

const resource = { type: 'string', enum: businessData } as const
const values = {
  type: 'object',
  description:
    'field: value. Names for ids; null clears. {"title":"Solar","stage":"New","owner":"me","deal_value":{"currency":"EUR","value":900},"expected_close_date":"2026-03-31"}',
} as const

export const create: Tool = {
  name: 'create',
  title: 'Create a record',
  isWrite: true,
  description:
    'Creates a record. A new contact or company of a deal can be an object: "primary_contact":{"last_name":"Silva","emails":[{"email_type":"Work","email_value":"a@b.c"}]}.',
  input: { properties: { resource, values, code: codeInput } },
  run: (args, api) =>
    inTwoSteps('create', args, api, async () => {
      if (args.resource === undefined || args.values === undefined)
        throw new ToolRefusal(
          'create needs resource and values, or a code.',
          [],
          'create {"resource":"company","values":{"name":"Acme"}}',
        )
      const resource = String(args.resource)
      return planCreation(api, resource, await bodyOf(api, resource, args.values as JsonObject))
    }),
}

async function planCreation(api: Api, resource: string, body: JsonObject): Promise<Plan> {
  const schema = schemaOf(api, resource)
  const operation = `${resource}_create`
  const expand = expandable(seenFields(schema), api.caller.rights)
  const judged = await api.call({ operation, body, isDry: true, query: expand ? { expand } : {} })
  const record = judged.data as JsonObject
  return {
    calls: [{ operation, body: pinned(body, record, schema) }],
    ...{
      would: `create ${withArticle(resource)}`,
      done: `created ${withArticle(resource)}`,
      record: { resource },
    },
    shown: { [resource]: filled(record, schema, Object.keys(body)) },
    notes: notesOf(judged),
  }
}

function withArticle(resource: string): string {
  return `${/^[aeiou]/.test(resource) ? 'an' : 'a'} ${resource}`
}

/** Warnings of a dry run, and the records that it would make. */
function notesOf(answer: JsonObject): string[] {
  const { created = [] } = (answer.meta ?? {}) as { created?: { resource: string }[] }
  const also = created.map(({ resource }) => `A new ${resource} would be created, too.`)
  return [...warningsOf(answer), ...also]
}

export const update: Tool = {
  name: 'update',
  title: 'Change records',
  isWrite: true,
  description:
    'Changes one record, or all that meet conditions (500 at most, all or none). close: wins or loses deals. Nothing is deleted by it.',
  input: {
    properties: {
      resource,
      record: { type: ['integer', 'string'], maxLength: 255, description: 'id or name; or where' },
      where,
      values,
      close: {
        type: 'object',
        description: '{"as":"won","reason":"Price","on":"2026-03-31"}: of deals; today if on is left out',
      },
      code: codeInput,
    },
  },
  run: (args, api) =>
    inTwoSteps('update', args, api, async () => {
      const { resource, record, where, values, close } = args
      const isOne = record !== undefined
      if (resource === undefined || isOne === (where !== undefined) || (values ?? close) === undefined)
        throw new ToolRefusal(
          'update needs resource, record or where, and values or close; or a code.',
          [],
          callText('update', { resource: 'deal', record: 42, values: { stage: 'Qualified' } }),
        )
      const name = String(resource)
      const body = await bodyOf(api, name, (values ?? {}) as JsonObject)
      const closing = close === undefined ? null : closingOf(name, close as JsonObject)
      if (closing) refuseBoth(body, closing)
      if (!isOne) return planMany(api, name, textsOf(where), body, closing && closingEach(api, closing))
      return planOne(api, name, await recordNamed(api, name, record), body, closing)
    }),
}

type Closing = { readonly as: 'won' | 'lost'; readonly reason: Json; readonly on: string | null }

function closingOf(resource: string, { as, reason = null, on = null, ...others }: JsonObject): Closing {
  const example = 'update {"resource":"deal","record":42,"close":{"as":"won","reason":"Price"}}'
  if (resource !== 'deal') throw new ToolRefusal('Only deals are closed.', [], example)
  const wrong = Object.keys(others)[0]
  if ((as === 'won' || as === 'lost') && !wrong) return { as, reason, on: on === null ? null : asText(on) }
  throw new ToolRefusal(
    'close could not be read.',
    [
      {
        at: wrong ? `close.${wrong.slice(0, 40)}` : 'close.as',
        message: 'close has as (won or lost), reason and on.',
      },
    ],
    example,
  )
}

/** Refuses values of what `close` decides: one of both would be lost. */
function refuseBoth(values: JsonObject, closing: Closing): void {
  const both = closedFields(closing).filter(name => Object.hasOwn(values, name))
  if (both.length)
    throw new ToolRefusal(
      'close decides what values have, too.',
      both.map(at => ({ at, message: 'Give it in close alone.' })),
      'update {"resource":"deal","record":42,"close":{"as":"won","reason":"Price","on":"2026-03-31"}}',
    )
}

/** The fields that winning or losing a deal sets. */
function closedFields({ as }: Closing): string[] {
  return ['pipeline_stage', `${as}_reason`, 'deal_closed_on']
}

/** The values that win or lose each deal of many. */
function closingEach(api: Api, closing: Closing): OwnValues {
  return { fields: closedFields(closing), of: record => closed(api, record, closing) }
}

/** The values that win or lose a deal: a stage of that kind in its pipeline, the reason and the day. */
function closed({ caller, now }: Api, record: JsonObject, { as, reason, on }: Closing): JsonObject {
  const { stages, account } = caller.catalog
  const stage = [...stages.values()]
    .filter(({ pipeline, kind }) => pipeline === record.pipeline && kind === as)
    .sort((one, other) => one.position - other.position)[0]
  if (!stage)
    throw new ToolRefusal(`The deal's pipeline has no stage that is ${as}, or you don't see its pipeline.`)
  const today = dateIn(account.time_zone, now)!
  const day = on === null ? today : (daysMeant(on, today)?.[0] ?? on)
  return { pipeline_stage: stage.id, [`${as}_reason`]: reason, deal_closed_on: day }
}

async function planOne(
  api: Api,
  resource: string,
  id: number,
  values: JsonObject,
  closing: Closing | null,
): Promise<Plan> {
  const schema = schemaOf(api, resource)
  const before = await readRecord(api, resource, id)
  const body = { ...values, ...(closing ? closed(api, before, closing) : {}) }
  const call = { operation: `${resource}_update`, id, version: Number(before.version) }
  const expand = expandable(seenFields(schema), api.caller.rights)
  const judged = await api.call({ ...call, body, isDry: true, query: expand ? { expand } : {} })
  const after = judged.data as JsonObject
  const changes = differences(before, after, schema, Object.keys(body))
  if (Object.keys(changes).length === 0)
    throw unchanged(`${resource} ${id} has these values already`, warningsOf(judged))
  return {
    calls: [{ ...call, body: pinned(body, after, schema) }],
    ...{ would: `change ${resource} ${id}`, done: `changed ${resource} ${id}` },
    shown: { name: nameOf(before, schema), changes },
    notes: notesOf(judged),
    record: { resource, id },
  }
}

const about = { type: ['integer', 'string'], maxLength: 255 } as const

export const logActivity: Tool = {
  name: 'log_activity',
  usual: 'activity',
  title: 'Log an activity',
  isWrite: true,
  description:
    'Logs a call, meeting, e-mail or note that was, or a task for somebody (owner). Without due and done, a task is open and all else is done now.',
  input: {
    properties: {
      kind: { type: 'string', maxLength: 80, description: 'Call, Meeting, Task, E-mail or Note' },
      subject: { type: 'string', maxLength: 255 },
      notes: { type: 'string', maxLength: 32_000 },
      ...{ deal: about, contact: about, company: about },
      owner: { ...about, description: 'user: name or id; you if left out' },
      due: { type: 'string', maxLength: 40, description: '"tomorrow", "2026-03-31 15:00"' },
      done: { type: 'string', maxLength: 40, description: '"today", "yesterday", "no"' },
      duration: { type: 'integer', minimum: 0, maximum: 525_600, description: 'minutes' },
      outcome: { type: 'string', maxLength: 255 },
      code: codeInput,
    },
  },
  run: (args, api) =>
    inTwoSteps('log_activity', args, api, async () => {
      const { kind, subject, due, done, ...others } = args
      if (kind === undefined || subject === undefined)
        throw new ToolRefusal(
          'log_activity needs kind and subject, or a code.',
          [],
          'log_activity {"kind":"Call","subject":"Asked for the offer","deal":42}',
        )
      const isTask = /^task$/i.test(String(kind))
      const isDone = done === undefined ? !isTask && due === undefined : !/^(no|false)$/i.test(String(done))
      const doneAt = done === undefined || /^(yes|true|now)$/i.test(String(done)) ? 'now' : String(done)
      const given = {
        ...{ kind, subject, ...others },
        ...(due === undefined ? {} : { due_at: momentOf(api, 'due', String(due)) }),
        ...(isDone ? { done_at: momentOf(api, 'done', doneAt) } : {}),
      }
      return planCreation(api, 'activity', await bodyOf(api, 'activity', given as JsonObject))
    }),
}

/** Without a time of its own a day means nine o'clock, and today, of what is done, now. */
function momentOf({ caller, now }: Api, at: string, text: string): string {
  const zone = caller.catalog.account.time_zone
  if (/^\d{4}-\d{2}-\d{2}T/.test(text)) return text
  const [, words = '', time] = /^(.*?)(?:[\sT]+(?:at )?(\d{1,2}:\d{2}))?$/.exec(text.trim()) ?? []
  const today = dateIn(zone, now)!
  const day = daysMeant(words, today)?.[0]
  const hour = time?.padStart(5, '0') ?? '09:00'
  const moment = day && /^([01]\d|2[0-3]):[0-5]\d$/.test(hour) ? momentIn(zone)(day, `${hour}:00`) : null
  if (!moment)
    throw new ToolRefusal('The time could not be read.', [
      { at, message: text.slice(0, 40), hint: 'For example "tomorrow", "in 3 days" or "2026-03-31 15:00".' },
    ])
  return at === 'done' && day === today && !time ? now.toISOString() : moment
}
