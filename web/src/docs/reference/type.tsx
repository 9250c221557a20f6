/** A schema in words: types, limits and values. Named schemas are links to their description. */
import { createContext, type ReactNode, useContext } from 'react'
import { DocLink, Sentence } from '../doc-link.tsx'
import { type Members, type Schema, schemaPlace } from './openapi.ts'

/** The named schemas of the document. */
export const Schemas = createContext<Members>({})

/** True within what is sent: there a member that is required is marked. */
export const Sent = createContext(false)

type Props = { schema: Schema; depth?: number; isOpen?: boolean; isPart?: boolean }

/** `isOpen`: its members are shown from the beginning; `isPart`: more is said of it in the same sentence. */
export function Type({ schema, depth = 0, isOpen = false, isPart = false }: Props): ReactNode {
  const schemas = useContext(Schemas)
  if (schema.$ref) {
    const { name, href } = schemaPlace(schemas, schema.$ref)
    return <DocLink href={href}>{name}</DocLink>
  }
  if (schema.const !== undefined) return <Value value={schema.const} />
  if (schema.enum)
    return (
      <>
        <Values values={schema.enum} />
        <Note text={schema.description} isPart={isPart} />
      </>
    )
  if (schema.allOf) return <Several schemas={schema.allOf} word="and" depth={depth} isOpen={isOpen} />
  if (schema.anyOf)
    return (
      <>
        <Several schemas={schema.anyOf} word="or" depth={depth} isOpen={isOpen} />
        <Note text={schema.description} isPart={isPart} />
      </>
    )
  const types = [schema.type ?? 'any'].flat()
  return (
    <>
      {types.map((type, index) => (
        <span key={type}>
          {index > 0 && ' or '}
          <Simple type={type} schema={schema} depth={depth} isOpen={isOpen} />
        </span>
      ))}
      <Limits schema={schema} />
      <Note text={schema.description} isPart={isPart} />
    </>
  )
}

function Several(props: { schemas: readonly Schema[]; word: string; depth: number; isOpen: boolean }) {
  const { schemas, word, depth, isOpen } = props
  const different = new Map(schemas.map(one => [JSON.stringify(one), one]))
  return [...different].map(([key, one], index) => (
    <span key={key}>
      {index > 0 && ` ${word} `}
      <Type schema={one} depth={depth} isOpen={isOpen} isPart />
    </span>
  ))
}

const words: { readonly [type: string]: string } = {
  string: 'text',
  integer: 'whole number',
  any: 'any value',
}

function Simple({ type, schema, depth = 0, isOpen }: Props & { type: string }) {
  const isSent = useContext(Sent)
  if (type === 'array')
    return (
      <>
        list of <Type schema={schema.items ?? {}} depth={depth} isOpen={isOpen ?? false} isPart />
      </>
    )
  if (type !== 'object' || !schema.properties || depth > 4) return words[type] ?? type
  return (
    <details className="inline-block align-top" open={isOpen}>
      <summary className="min-h-6 cursor-pointer">object</summary>
      <ul className="ml-4 list-disc">
        {Object.entries(schema.properties).map(([name, member]) => (
          <li key={name}>
            <code>{name}</code> <Type schema={member} depth={depth + 1} />
            {isSent && schema.required?.includes(name) && <Required />}
          </li>
        ))}
      </ul>
    </details>
  )
}

export function Required() {
  return <em className="text-sm text-ink-faint"> required</em>
}

const shownValues = 12

function Values({ values }: { values: readonly unknown[] }) {
  return (
    <>
      one of{' '}
      {values.slice(0, shownValues).map((value, index) => (
        <span key={JSON.stringify(value)}>
          {index > 0 && ', '}
          <Value value={value} />
        </span>
      ))}
      {values.length > shownValues && ` and ${values.length - shownValues} more`}
    </>
  )
}

function Value({ value }: { value: unknown }) {
  return <code>{JSON.stringify(value)}</code>
}

function Limits({ schema }: { schema: Schema }) {
  const { minLength, maxLength, minimum, maximum, maxItems } = schema
  const isId = maximum === Number.MAX_SAFE_INTEGER
  const isBounded = !isId && (minimum !== undefined || maximum !== undefined)
  const limits = [
    ...(maxLength === undefined ? [] : [`${minLength ?? 0} to ${maxLength} characters`]),
    ...(isBounded ? [`${minimum ?? '…'} to ${maximum ?? '…'}`] : []),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
  ]
  return limits.map(limit => `, ${limit}`).join('')
}

export function Note({ text, isPart = false }: { text: string | undefined; isPart?: boolean }) {
  if (!text) return null
  return (
    <span className="text-ink-soft">
      {' '}
      <Sentence text={isPart ? `(${text.replace(/\.$/, '')})` : text} />
    </span>
  )
}
