/** The body of a batch (D78): its schemas, and how it is read, with all problems. */
import { type Problem, type ProblemCode, type Problems, problemAt, Refusal } from '../../errors.ts'
import type { ResourceSchema } from '../../fields/catalog.ts'
import type { Schema } from '../../fields/field.ts'
import { closedObject, openObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { asText, isNumber, isObject, type Json, type JsonObject } from '../../json.ts'
import { targetByKey } from '../../records/unique-key.ts'
import { type Operation, operationNames } from '../../records/write/operation.ts'
import { unknownMembers } from '../request.ts'

export const operationsMax = 500

export type Batch = { readonly operations: readonly Operation[]; readonly isAtomic: boolean }

/**
 * Reads a body. Throws `validation_failed` with all problems. In a repeated batch (D8), an operation whose
 * record nothing identifies any more is no problem of the whole.
 */
export function readBatch(body: Json, schema: ResourceSchema, isRepeated: boolean): Batch {
  if (!isObject(body)) throw notABatch([problemAt('', 'wrong_type', 'The body must be an object.')])
  const { operations, atomic = null } = body
  if (!Array.isArray(operations) || operations.length < 1 || operations.length > operationsMax) {
    const count = Array.isArray(operations) ? `; there are ${operations.length}` : ''
    const message = `operations must be a list of 1 to ${operationsMax} operations${count}.`
    throw notABatch([problemAt('/operations', count ? 'out_of_range' : 'required', message)])
  }
  const problems = unknownMembers(body, ['operations', 'atomic'])
  if (atomic !== null && typeof atomic !== 'boolean')
    problems.add(() => problemAt('/atomic', 'wrong_type', 'atomic must be true or false.'))
  const read = operations.map((one, index) => {
    const path = `/operations/${index}`
    const operation = operationOf(one, schema, path, problems)
    const { unidentified } = operation
    if (unidentified && !isRepeated)
      problems.add(() => problemAt(`${path}/by`, 'invalid_value', unidentified.message))
    return operation
  })
  if (problems.count > 0) throw notABatch(problems)
  return { operations: read, isAtomic: atomic === true }
}

/** The members of each operation: those that identify its record, and whether it has data. */
const takes: {
  readonly [op in Operation['op']]: { readonly by: readonly string[]; readonly data: boolean }
} = {
  create: { by: [], data: true },
  update: { by: ['id', 'by'], data: true },
  upsert: { by: ['by'], data: true },
  delete: { by: ['id', 'by'], data: false },
  restore: { by: ['id'], data: false },
}

const members = ['op', 'id', 'by', 'if_match', 'data']

/** Reads an operation. Problems are collected; the result is useless if there are any. */
function operationOf(sent: Json, schema: ResourceSchema, path: string, problems: Problems): Operation {
  const wrong = (member: string, code: ProblemCode, message: string) =>
    problems.add(() => problemAt(`${path}${member}`, code, message))
  const one: JsonObject = isObject(sent) ? sent : {}
  const { id = null, by = null, if_match: ifMatch = null, data = null } = one
  const op = operationNames.find(name => name === one.op) ?? 'create'
  if (!isObject(sent)) wrong('', 'wrong_type', 'An operation must be an object.')
  else if (op !== one.op) wrong('/op', 'invalid_value', `op must be one of ${operationNames.join(', ')}.`)
  else {
    for (const item of unknownMembers(one, members).listed)
      problems.add(() => ({ ...item, path: `${path}${item.path}` }))
    judgeTarget(op, { id, by }, wrong)
    const { data: takesData } = takes[op]
    if (takesData && data === null) wrong('/data', 'required', `The ${op} needs data.`)
    if (!takesData && data !== null) wrong('/data', 'contradiction', `The ${op} takes no data.`)
  }
  if (!isWholeOrNull(id)) wrong('/id', 'wrong_type', "id must be a record's id, which is a whole number.")
  if (!isWholeOrNull(ifMatch))
    wrong('/if_match', 'wrong_type', "if_match must be a record's version, which is a whole number.")
  return {
    op,
    id: id as number | null,
    ...(by === null ? { key: null } : targetOf(by, schema, wrong)),
    precondition: ifMatch === null ? null : [asText(ifMatch)],
    body: data,
  }
}

type AddProblem = (member: string, code: ProblemCode, message: string) => void

/** Checks that exactly one member identifies the record. */
function judgeTarget(op: Operation['op'], given: { id: Json; by: Json }, addProblem: AddProblem): void {
  const { by: known } = takes[op]
  const sent = (['id', 'by'] as const).filter(name => given[name] !== null)
  const other = sent.find(name => !known.includes(name))
  if (other) addProblem(`/${other}`, 'contradiction', `The ${op} takes no ${other}.`)
  else if (sent.length !== Math.min(known.length, 1))
    addProblem(
      `/${known[0]}`,
      'required',
      `The ${op} needs ${known.length > 1 ? 'either ' : ''}${known.join(' or ')}.`,
    )
}

function targetOf(by: Json, schema: ResourceSchema, addProblem: AddProblem): ReturnType<typeof targetByKey> {
  const { field, value = null } = isObject(by) ? by : {}
  const isValue = typeof value === 'string' || isNumber(value)
  if (!isObject(by) || Object.keys(by).length !== 2 || typeof field !== 'string' || !isValue) {
    addProblem(
      '/by',
      'wrong_type',
      'by must have a field, by its name, and a value, which is a text or a number.',
    )
    return { key: null }
  }
  return targetByKey(schema, field, value)
}

function isWholeOrNull(value: Json): boolean {
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
}

function notABatch(problems: Problems | readonly Problem[]): Refusal {
  return new Refusal('validation_failed', 'The batch could not be read. Nothing was carried out.', problems)
}

const whole = { type: 'integer', minimum: 0 }
const by = {
  ...closedObject({ field: { type: 'string' }, value: { type: ['string', 'number'] } }, ['field', 'value']),
  description: 'A unique field and the value that the record has in it.',
}

const meta = { succeeded: whole, failed: whole, dryRun: { const: true } }
export const batchMeta = openObject(meta, ['succeeded', 'failed'])

/** The schema of an operation with this op and these members. */
function operation(op: string, members: { readonly [name: string]: Schema }, required: string[]): Schema {
  return closedObject({ op: { const: op }, ...members }, ['op', ...required])
}

function operations(resource: string): Schema[] {
  const [given, input] = [schemaRef(`${resource}_new`), schemaRef(`${resource}_input`)]
  const ifMatch = { if_match: { ...whole, description: 'The version that the record must have.' } }
  const id = { id: whole, ...ifMatch }
  return [
    operation('create', { data: given }, ['data']),
    operation('update', { ...id, data: input }, ['id', 'data']),
    operation('update', { by, ...ifMatch, data: input }, ['by', 'data']),
    operation('upsert', { by, ...ifMatch, data: input }, ['by', 'data']),
    operation('delete', id, ['id']),
    operation('delete', { by, ...ifMatch }, ['by']),
    operation('restore', id, ['id']),
  ]
}

export function batchBody(resource: string): Schema {
  const properties = {
    operations: {
      type: 'array',
      items: { anyOf: operations(resource) },
      minItems: 1,
      maxItems: operationsMax,
    },
    atomic: { type: ['boolean', 'null'], description: 'All or none; default: each operation by itself.' },
  }
  return closedObject(properties, ['operations'])
}
