/** Runs a tool: checks its arguments, and turns answers and refusals into what an agent reads (D146). */
import { Refusal } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { answerText } from './answer.ts'
import { type Api, CallRefusal } from './api.ts'
import { checkedInput } from './input.ts'
import { ToolRefusal, type Wrong } from './refusal.ts'
import { cut } from './shown.ts'
import { callText, type Tool } from './tool.ts'

export type ToolAnswer = { readonly text: string; readonly isError: boolean }

/** Throws errors that are no refusals. */
export async function runTool(tool: Tool, given: unknown, api: Api): Promise<ToolAnswer> {
  try {
    const { summary, stored } = await tool.run(checkedInput(given, tool.name, tool.input), api)
    return { text: answerText(summary, stored), isError: false }
  } catch (error) {
    return { text: errorText(tool, refusalOf(error, tool, given)), isError: true }
  }
}

function refusalOf(error: unknown, { usual }: Tool, given: unknown): ToolRefusal {
  if (error instanceof ToolRefusal) return error
  const named = isObject(given) ? given.resource : undefined
  if (error instanceof CallRefusal) return ofProblem(error, named ?? usual ?? 'deal')
  if (error instanceof Refusal) return new ToolRefusal(error.message)
  throw error
}

const problemsMax = 6

/** The same problems as the service's, shortened, with the call that helps. */
function ofProblem({ status, problem }: CallRefusal, resource: Json): ToolRefusal {
  const { detail, errors = [] } = problem as { detail: string; errors?: JsonObject[] }
  const wrong = errors.slice(0, problemsMax).map((one): Wrong => {
    const { field, path, parameter, message, hint, candidates } = one
    const among = Array.isArray(candidates) ? candidatesText(candidates) : ''
    const help = [hint, among].filter(part => part).join(' ')
    return {
      at: String(field ?? parameter ?? path),
      message: String(message),
      ...(help ? { hint: help } : {}),
    }
  })
  return new ToolRefusal(detail, wrong, nextCall(status, errors, resource))
}

/** The service's hints name its addresses, which agents don't have. */
function inTools(hint: string): string {
  return hint
    .replace(
      /The field list of (\w+) names them: GET \S+/,
      (_, name) => `${callText('describe', { resource: name })} lists the fields.`,
    )
    .replace(/GET …\/(\w+)\/view\/list/, (_, name) => callText('list', { resource: name }))
}

function candidatesText(candidates: readonly Json[]): string {
  const named = candidates.filter(isObject).slice(0, 5)
  return `One of: ${named.map(({ id, name }) => `${String(id)} ${String(name)}`).join('; ')}.`
}

const waiting = new Set([429, 503])

function nextCall(status: number, errors: readonly JsonObject[], resource: Json): string | undefined {
  if (waiting.has(status)) return 'the same call, in some seconds'
  if (status === 412) return 'the first step again: the record has changed since it was shown'
  if (status === 403) return 'describe says what you may do'
  const unknown = errors.find(({ code }) => code === 'unknown_field' || code === 'unknown_option')
  if (!unknown) return undefined
  const isOption = unknown.code === 'unknown_option'
  return callText('describe', { resource, ...(isOption ? { fields: [String(unknown.field)] } : {}) })
}

const messageMax = 300

function errorText({ name }: Tool, { message, problems, next }: ToolRefusal): string {
  const short = (text: string) => String(cut(text, messageMax))
  const summary = { ...{ error: short(message), tool: name }, ...(next ? { next } : {}) }
  const wrong = problems.map(({ at, message, hint }) => ({
    ...{ at: short(at), problem: short(message) },
    ...(hint ? { hint: short(inTools(hint)) } : {}),
  }))
  return answerText(summary, wrong.length ? { problems: wrong } : {})
}
