/**
 * Values generated from a JSON Schema of an OpenAPI document: valid ones, at its limits, and some just
 * beyond. The generator is seeded, so that every run has the same.
 */
import { merged } from '../../scripts/breaking-changes.ts'
import type { Json } from '../../src/json.ts'
import type { OpenApi } from './judge.ts'

/** A seeded generator of numbers from 0 to 1. */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export type Generator = {
  readonly document: OpenApi
  readonly next: () => number
  /** share of values that violate the schema: 0 to 1 */
  readonly beyond: number
  /** frequent values of members with this name, such as existing ids */
  readonly given: (name: string) => readonly Json[] | undefined
}

/** Texts of many forms; those that match a pattern are used for it. */
const texts = [
  ...[
    '',
    ' ',
    'a',
    'Web',
    'new business',
    'x'.repeat(20),
    '💼💼💼',
    'Zürich % _ \\ "q"',
    'a\nb',
    'null',
    '0',
  ],
  ...[
    '2026-03-31',
    '2028-02-29T10:00+02',
    ' 2028-02-29 ',
    '2027-02-29',
    '2026-12-31T23:30:00-08:00',
    '2026-03-31T09:30:00.1239Z',
  ],
  ...['0000-01-01', '2026-04-31', '2026-01-01 00:00', '2026-01-01T24:00:00Z', '2026-01-01T00:00:00+15:00'],
  ...[
    '09:30',
    '23:59:59',
    '24:00',
    '9:30',
    '10:00/12:30',
    'T22:00/06:00:30,5',
    ' 22:00 / 06:00 ',
    '10:00/',
    '2026-1-1',
  ],
  ...[
    '12.50',
    '-1',
    '+7',
    '.5',
    '5.',
    '1e3',
    '1e-9',
    '99999999999999',
    '1,50',
    '0',
    ' 8 ',
    '1e999',
    '49.999',
  ],
  ...['USD', 'euro', 'jpy', 'XXY', 'admin', 'deal:read', 'deal.deal_value', 'cf_x', 'cf_', 'title', 'id'],
  ...['+1 555 0100', '12345', '1234', '1'.repeat(17), '1'.repeat(18), 'call 12345', '<12345>', '(0)/#*,;1'],
  ...['jo@example.com', 'jo', 'jo@', '.jo@example.com', 'j..o@example.com', 'jo.@example.com', 'é@ü.example'],
  ...['{"a":1}', 'Yes', 'no', 'true', 'false', 'Europe/Paris', 'de-CH', 'invitation', '"1"', '*', 'W/"1"'],
]

/** A value by a schema. `name` is that of its member. */
export function valueBy(by: Generator, schema: OpenApi, name = ''): Json {
  const { next, beyond, given } = by
  const known = given(name)
  if (known?.length && next() < 0.7) return pick(by, known)
  if (next() < beyond / 2) return anything(by, 2)
  const { anyOf, ...whole } = merged(schema, by.document)
  if (anyOf) return valueBy(by, { ...whole, ...merged(pick(by, anyOf), by.document) }, '')
  if (whole.enum) return pick(by, whole.enum)
  if ('const' in whole) return whole.const
  const type = Array.isArray(whole.type) ? pick<string>(by, whole.type) : whole.type
  switch (type) {
    case 'string':
      return textBy(by, whole)
    case 'integer':
    case 'number':
      return numberBy(by, whole, type)
    case 'boolean':
      return next() < 0.5
    case 'null':
      return null
    case 'array':
      return arrayBy(by, whole)
    case 'object':
      return objectBy(by, whole)
    default:
      return anything(by, 2)
  }
}

export function pick<T>({ next }: Pick<Generator, 'next'>, of: readonly T[]): T {
  return of[Math.floor(next() * of.length)]!
}

function textBy(by: Generator, { pattern, minLength = 0, maxLength }: OpenApi): string {
  const { next, beyond } = by
  if (next() < beyond) return pick(by, texts)
  if (maxLength !== undefined && !pattern && next() < 0.3) {
    const length = Math.min(maxLength, 40_000) + (next() < beyond ? 1 : 0)
    return pick(by, ['x', '💼']).repeat(length)
  }
  const form = pattern === undefined ? /(?:)/ : new RegExp(pattern, 'u')
  const fitting = texts.filter(text => form.test(text) && text.length >= minLength)
  return pick(by, fitting.length ? fitting : texts)
}

function numberBy(by: Generator, schema: OpenApi, type: string): number {
  const { next, beyond } = by
  const { minimum = -1000, maximum = 100_000 } = schema
  if (next() < beyond) return pick(by, [minimum - 1, maximum + 1, 1.5, -1, 1e15, 0.1])
  if (next() < 0.4) return pick(by, [minimum, maximum, Math.max(minimum, 0), Math.max(minimum, 1)])
  const number = minimum + next() * (Math.min(maximum, 1e6) - minimum)
  return type === 'integer' || next() < 0.5 ? Math.round(number) : Math.round(number * 100) / 100
}

function arrayBy(by: Generator, { items = {}, minItems = 0, maxItems = 3 }: OpenApi): Json[] {
  const { next, beyond } = by
  const most = maxItems > 30 ? 3 : maxItems
  const count = next() < beyond ? maxItems + 1 : pick(by, [minItems, 1, 2, most])
  return Array.from({ length: Math.min(count, 600) }, () => valueBy(by, items))
}

function objectBy(by: Generator, { properties = {}, required = [], not }: OpenApi): { [name: string]: Json } {
  const { next, beyond } = by
  const names = Object.keys(properties).filter(name => !not?.required?.includes(name))
  const share = names.length > 8 ? 3 / names.length : 0.5
  const wanted = names.filter(name => (required.includes(name) ? next() >= beyond / 3 : next() < share))
  const object = Object.fromEntries(wanted.map(name => [name, valueBy(by, properties[name], name)]))
  return next() < beyond ? { ...object, nobody_has_this: 1 } : object
}

/** Any JSON at all. */
export function anything(by: Generator, levels: number): Json {
  const { next } = by
  const inner = () => anything(by, levels - 1)
  const kind = next()
  if (kind < 0.4) return pick(by, texts)
  if (kind < 0.65) return pick(by, [0, 1, 2, -1, 1.5, 7, 0.001, 1e15, 840, 99_999_999])
  if (kind < 0.8 || levels === 0) return pick(by, [true, false, null])
  if (kind < 0.9) return Array.from({ length: Math.floor(next() * 3) }, inner)
  const members = ['id', 'currency', 'value', 'range', 'city', 'phone_number', 'last_name', 'x']
  return Object.fromEntries(members.filter(() => next() < 0.3).map(name => [name, inner()]))
}
