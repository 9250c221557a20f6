/**
 * Writes of agents in two steps (D147): the first judges the change and answers what would change, with a
 * code; the second sends the code and carries out the very change that was shown.
 */
import type { JsonObject } from '../json.ts'
import { writesAtOnce } from '../rights/scopes.ts'
import { shortened } from './answer.ts'
import { type Api, type Call, CallRefusal } from './api.ts'
import { type Change, codeMinutes, randomWord } from './changes.ts'
import type { Input } from './input.ts'
import { ToolRefusal } from './refusal.ts'
import { callText, linkOf, type ToolResult, warningsOf } from './tool.ts'

/** A change that was judged and not carried out. */
export type Plan = {
  readonly calls: readonly Call[]
  /** what it would do, and what it has done, as a sentence without its subject */
  readonly would: string
  readonly done: string
  /** what would change, as stored texts */
  readonly shown: JsonObject
  /** true if it changes several records, which always takes two steps */
  readonly isOfMany?: boolean
  /** what the service says of it, which may name records */
  readonly notes?: readonly string[]
  /** the record that it changes; without an id: the new one */
  readonly record?: { readonly resource: string; readonly id?: number }
}

/** The argument of the second step. */
export const codeInput: Input = {
  ...{ type: 'string', maxLength: 40 },
  description: 'second step: the code of the first, alone',
}

/** Carries out the change of a code, or judges what `plan` says. */
export async function inTwoSteps(
  tool: string,
  args: JsonObject,
  api: Api,
  plan: () => Promise<Plan>,
): Promise<ToolResult> {
  const { code, ...others } = args
  if (code !== undefined) {
    if (Object.keys(others).length)
      throw new ToolRefusal('The second step is sent with the code alone.', [], callText(tool, { code }))
    return carryOut(await changeOf(tool, String(code), api), api)
  }
  const planned = await plan()
  const change: Change = {
    id: `agent-${randomWord(12)}`,
    tool,
    calls: planned.calls,
    done: planned.done,
    record: planned.record ?? null,
  }
  if (writesAtOnce(api.caller.rights.scopes) && !planned.isOfMany) return carryOut(change, api)
  const shown = shortened(planned.shown)
  if (!shown) throw new ToolRefusal('The change is too long to be shown: change fewer fields at once.')
  const kept = await api.changes.keep(change)
  if (!kept)
    throw new ToolRefusal('Too many changes wait to be carried out: carry one out, or wait some minutes.')
  return {
    summary: {
      saved: false,
      would: planned.would,
      code: kept,
      next: `if it is right: ${callText(tool, { code: kept })} within ${codeMinutes} minutes`,
    },
    stored: { ...shown, ...(planned.notes?.length ? { notes: [...planned.notes] } : {}) },
  }
}

async function changeOf(tool: string, code: string, api: Api): Promise<Change> {
  const change = await api.changes.find(code.trim().toLowerCase())
  if (!change)
    throw new ToolRefusal(
      `There is no such code, or its ${codeMinutes} minutes are over. Nothing was saved.`,
      [],
      `${tool} with the change itself: it answers a new code`,
    )
  if (change.tool === tool) return change
  throw new ToolRefusal('The code belongs to another tool.', [], callText(change.tool, { code }))
}

/** Carries a change out. Repeated, it answers the same and does nothing twice (D8). */
async function carryOut({ id, calls, done, record }: Change, api: Api): Promise<ToolResult> {
  const answers: JsonObject[] = []
  for (const [part, call] of calls.entries()) {
    try {
      answers.push(await api.call({ ...call, change: { id, part } }))
    } catch (error) {
      if (answers.length === 0 || !(error instanceof CallRefusal)) throw error
      throw new ToolRefusal(
        `${answers.length} of ${calls.length} parts were saved; the next was refused: ${error.message}`,
        [],
        callText('undo', { change: id }),
      )
    }
  }
  const warnings = answers.flatMap(warningsOf)
  return {
    summary: {
      ...{ saved: true, done, ...recordOf(record, answers, api), ...countsOf(answers) },
      ...{ change: id, take_back: callText('undo', { change: id }) },
    },
    stored: warnings.length ? { warnings } : {},
  }
}

/** The record that was written, with the address of its page. */
function recordOf(record: Change['record'], answers: readonly JsonObject[], api: Api): JsonObject {
  if (!record) return {}
  const { data } = answers[0]!
  const { resource, id = Number((data as JsonObject).id) } = record
  const link = linkOf(api, resource, id)
  return { resource, id, ...(link ? { link } : {}) }
}

/** How many records were written, and how many refused, if they are several. */
function countsOf([answer]: readonly JsonObject[]): JsonObject {
  const { succeeded, failed } = (answer?.meta ?? {}) as { succeeded?: number; failed?: number }
  return succeeded === undefined ? {} : { records: succeeded, ...(failed ? { refused: failed } : {}) }
}
