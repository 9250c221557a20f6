/** A request of the reference: what it takes, what it answers, and a form that sends it. */
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { keepFocus } from '../../ui/keys.ts'
import { Sentence } from '../doc-link.tsx'
import { Cell, Row, Table } from '../table.tsx'
import { jsonBodyOf, type Operation } from './openapi.ts'
import type { Reader } from './reader.ts'
import { TryForm } from './try-form.tsx'
import { Note, Required, Sent, Type } from './type.tsx'

const colours: { readonly [method: string]: string } = {
  GET: 'text-won',
  POST: 'text-accent',
  PUT: 'text-warn',
  PATCH: 'text-warn',
  DELETE: 'text-lost',
}

export function Method({ method }: { method: string }) {
  return <b className={classes('inline-block min-w-16 text-sm', colours[method])}>{method}</b>
}

export function Request({ operation, reader }: { operation: Operation; reader: Reader }) {
  const { operationId, method, path, summary, description, scopes, parameters } = operation
  const body = jsonBodyOf(operation)
  return (
    <details id={operationId} className="my-2 rounded-md border border-line bg-surface px-4 py-2 text-base">
      <summary className="min-h-6 cursor-pointer">
        <Method method={method} /> <code className="break-all">{path}</code>{' '}
        <span className="text-ink-soft">{summary}</span>
      </summary>
      {description && (
        <p className="mt-2">
          <Sentence text={description} />
        </p>
      )}
      {scopes.length > 0 && <p className="mt-2 text-ink-soft">Scope: {scopes.join(', ')}</p>}
      {parameters.length > 0 && (
        <Part title="Parameters">
          <Table>
            {parameters.map(({ name, in: place, required, schema, description }) => (
              <Row key={`${place} ${name}`}>
                <Cell>
                  <code>{name}</code>
                  {required && <Required />}
                </Cell>
                <Cell label="In">{place}</Cell>
                <Cell>
                  <Type schema={schema} />
                  <Note text={description} />
                </Cell>
              </Row>
            ))}
          </Table>
        </Part>
      )}
      {body && (
        <Part title="Body">
          <Sent value>
            <Type schema={body} />
          </Sent>
        </Part>
      )}
      <Part title="Answers">
        <Table>
          {operation.responses.map(([status, { description, content }]) => (
            <Row key={status}>
              <Cell>{status}</Cell>
              <Cell>
                <Sentence text={description} codeHref={errorPlace} />
                {status < '300' && content?.['application/json'] && (
                  <div>
                    <Type schema={content['application/json'].schema} />
                  </div>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      </Part>
      <Try operation={operation} reader={reader} />
    </details>
  )
}

/** Descriptions of answers name errors. */
const errorPlace = (slug: string) => `/docs/errors#${slug}`

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <>
      <h3 className="mt-4 mb-1 font-medium">{title}</h3>
      <div>{children}</div>
    </>
  )
}

function Try({ operation, reader }: { operation: Operation; reader: Reader }) {
  const [isTrying, setTrying] = useState(false)
  const { requestBody, isPublic } = operation
  if (requestBody && !jsonBodyOf(operation)) return null
  const reason = reader.account || isPublic ? undefined : 'Sign in or use a token first.'
  return (
    <div ref={keepFocus}>
      {isTrying ? (
        <TryForm operation={operation} reader={reader} />
      ) : (
        <Button className="my-3" reason={reason} onPress={() => setTrying(true)}>
          Try it
        </Button>
      )}
    </div>
  )
}
