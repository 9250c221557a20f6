/** Validates values by the schemas of an OpenAPI document. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'

// biome-ignore lint/suspicious/noExplicitAny: a document is JSON
export type OpenApi = any

export type Judge = {
  /** The violations of the schema at a JSON pointer into the document; null if the value conforms. */
  complaint(pointer: string, value: unknown): string | null
}

/**
 * A validator of a document. Default: undescribed members are violations. Clients must tolerate them (D91),
 * but the service must not send them.
 */
export function judgeOf(document: OpenApi, isClosed = true): Judge {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, unevaluated: true })
  ajv.addSchema(isClosed ? closed(document) : document, 'document')
  const judges = new Map<string, ReturnType<typeof ajv.compile>>()
  return {
    complaint(pointer, value) {
      const judge = judges.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` })
      judges.set(pointer, judge)
      return judge(value) ? null : (judge.errors ?? []).map(told).join('; ')
    },
  }
}

function told({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`
}

/** The document with every described object closed (no additional members). */
function closed({ components, ...rest }: OpenApi): OpenApi {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [name, closedWithin(schema)])
  return {
    ...closedAt(rest),
    components: { ...closedAt({ ...components, schemas: {} }), schemas: Object.fromEntries(schemas) },
  }
}

function closedAt(node: OpenApi): OpenApi {
  const inner = closedWithin(node)
  const isDescribed = node?.$ref ?? node?.allOf ?? (node?.type === 'object' && node.properties)
  return isDescribed ? { ...inner, unevaluatedProperties: false } : inner
}

function closedWithin(node: OpenApi): OpenApi {
  if (Array.isArray(node)) return node.map(closedAt)
  if (typeof node !== 'object' || node === null) return node
  // The parts of an allOf have each other's members.
  const inner = (name: string, value: OpenApi) =>
    name === 'allOf' ? value.map(closedWithin) : closedAt(value)
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, inner(name, value)]))
}
