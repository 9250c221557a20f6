/** The tool that takes back what was written: a change of an agent as a whole, or one event (D83, D148). */
import type { Json, JsonObject } from '../json.ts'
import { businessData } from '../resources/resources.ts'
import { seqCursorText } from '../seq-cursor.ts'
import type { Api } from './api.ts'
import { itemsOf } from './find.ts'
import { ToolRefusal } from './refusal.ts'
import { cut, shownValue } from './shown.ts'
import type { Tool } from './tool.ts'
import { codeInput, inTwoSteps, type Plan } from './two-steps.ts'

export const undo: Tool = {
  name: 'undo',
  title: 'Take a change back',
  isWrite: true,
  description:
    'Takes back a change that a write answered, or one event of history. What somebody has changed since stays.',
  input: {
    properties: {
      change: { type: 'string', maxLength: 100 },
      event: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      code: codeInput,
    },
  },
  run: (args, api) =>
    inTwoSteps('undo', args, api, () => {
      const { change, event } = args
      if ((change === undefined) === (event === undefined))
        throw new ToolRefusal('undo needs a change or an event, or a code.', [], 'history {"by":"agents"}')
      return plan(api, event === undefined ? { request_id: change! } : { events: [event] })
    }),
}

const [examplesMax, problemsMax] = [3, 5]

async function plan(api: Api, body: JsonObject): Promise<Plan> {
  const call = { operation: 'event_undo_several', body }
  const results = itemsOf(await api.call({ ...call, isDry: true }))
  // Territories, tags and views can be undone (D83), but not by agents.
  const other = results.find(
    ({ resource = null }) => ![null, ...businessData].some(name => name === resource),
  )
  if (other)
    throw new ToolRefusal(
      `Event ${String(other.seq)} changed a ${String(other.resource)}. Agents don't change these, so they undo no change of one.`,
    )
  const isDone = ({ status }: JsonObject) => Number(status) < 400
  const done = results.filter(isDone)
  const refused = results.filter(result => !isDone(result)).slice(0, problemsMax)
  if (done.length === 0) throw new ToolRefusal('Nothing of that can be undone.', refused.map(problemOf))
  const examples: Json[] = []
  for (const result of done.slice(0, examplesMax)) examples.push(await shownUndo(api, result))
  return {
    calls: [call],
    would: `undo ${done.length} of ${results.length} ${results.length === 1 ? 'event' : 'events'}`,
    done: 'undone',
    shown: { [done.length > examplesMax ? 'examples' : 'records']: examples },
    isOfMany: done.length > 1,
    notes: refused.map(result => `${recordOf(result)} stays: ${problemOf(result).message}`),
  }
}

/** The outcome for a record: the changes of the event, the other way around. */
async function shownUndo(api: Api, { seq, resource, id }: JsonObject): Promise<Json> {
  const query = { pageSize: '1', cursor: seqCursorText(Number(seq) + 1) }
  const [event] = itemsOf(await api.call({ operation: `${String(resource)}_history`, id: Number(id), query }))
  const record = `${String(resource)} ${String(id)}`
  const verb = String(event?.type).split('.')[1]
  if (verb === 'created' || verb === 'restored') return { record, would: 'be deleted' }
  if (verb === 'deleted') return { record, would: 'be restored' }
  const short = (value: Json | undefined) => cut(shownValue(value ?? null), 100)
  const changes = itemsOf({ data: event?.changes ?? [] }).map(({ field, from, to, from_name, to_name }) => [
    String(field),
    { before: short(to_name ?? to), after: short(from_name ?? from) },
  ])
  return { record, changes: Object.fromEntries(changes) }
}

function recordOf({ seq, resource, id }: JsonObject): string {
  return resource === undefined ? `event ${String(seq)}` : `${String(resource)} ${String(id)}`
}

function problemOf(result: JsonObject) {
  const { errors = [], detail } = result as { errors?: { message: string }[]; detail?: string }
  return { at: recordOf(result), message: errors[0]?.message ?? String(detail) }
}
