/** The type of a tool, and what all tools share. */
import type { Warning } from '../errors.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import { pluralOf } from '../fields/synonyms.ts'
import type { JsonObject } from '../json.ts'
import { businessData } from '../resources/resources.ts'
import type { Api } from './api.ts'
import type { InputObject } from './input.ts'
import { ToolRefusal } from './refusal.ts'

/** An answer: the service's own members, and those with texts that people have stored. */
export type ToolResult = { readonly summary: JsonObject; readonly stored: JsonObject }

export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: InputObject
  /** the resource that is meant where the arguments name none; default: deal */
  readonly usual?: string
  /** true if it writes: by default in two steps (D147) */
  readonly isWrite?: true
  /** Throws ToolRefusal and CallRefusal. */
  readonly run: (args: JsonObject, api: Api) => Promise<ToolResult>
}

export function schemaOf({ caller }: Api, resource: string): ResourceSchema {
  return caller.catalog.resources.get(resource)!
}

/** The address of a record's page; undefined for resources without pages. */
export function linkOf({ origin }: Api, resource: string, id: string | number = '{id}'): string | undefined {
  return businessData.includes(resource) ? `${origin}/${pluralOf(resource)}/${id}` : undefined
}

/** The first warnings of an answer, each with the field that it is about. */
export function warningsOf({ meta }: JsonObject): string[] {
  const { warnings = [] } = (meta ?? {}) as { warnings?: Warning[] }
  return warnings.slice(0, 3).map(({ field, path, message }) => {
    const place = path?.slice(1).replaceAll('/', '.') ?? field
    return message.includes(field) ? message : `${place}: ${message}`
  })
}

/** The refusal of a change that would change nothing; `says`: why, unless values of it were ignored. */
export function unchanged(says: string, warnings: readonly string[]): ToolRefusal {
  const message = warnings.length ? 'Nothing would change.' : `Nothing would change: ${says}.`
  return new ToolRefusal(
    message,
    warnings.map(warning => ({ at: 'values', message: warning })),
  )
}

/** A call as text, for answers that name the next one. */
export function callText(tool: string, args: JsonObject): string {
  return `${tool} ${JSON.stringify(args)}`
}
