/** Sends a request of the reference, and shows its answer. */
import { type FormEvent, useState } from 'react'
import { DealwrightError, errorMessage } from '../../api/api.ts'
import { queryClient } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { Checkbox, TextArea, TextField } from '../../ui/inputs.tsx'
import { CodeBlock } from '../scrollable.tsx'
import { jsonBodyOf, type Operation } from './openapi.ts'
import type { Reader } from './reader.ts'

type Values = { readonly [name: string]: string }
type Answer = { readonly status: number; readonly body: unknown }
/** A request that can't be sent as it is. */
class Unsendable extends Error {}

const dryRun = 'dry_run'

export function TryForm({ operation, reader }: { operation: Operation; reader: Reader }) {
  const { method, parameters } = operation
  const [values, setValues] = useState<Values>({ [dryRun]: '1' })
  const [body, setBody] = useState('{}')
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [error, setError] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const isDry = parameters.some(({ name }) => name === dryRun) && values[dryRun] === '1'
  const isWrite = method !== 'GET' && !isDry
  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (isSending) return
    setSending(true)
    setError(null)
    try {
      setAnswer(await answerOf(operation, reader, values, body))
    } catch (problem) {
      setAnswer(null)
      setError(problem instanceof Unsendable ? problem.message : errorMessage(problem))
    }
    setSending(false)
    // The pages of the UI show what was changed here.
    if (isWrite) void queryClient.invalidateQueries({ refetchType: 'none' })
  }
  return (
    <form onSubmit={send} className="my-4 flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        {parameters
          .filter(({ name }) => name !== dryRun && name !== 'Idempotency-Key')
          .map(({ name, required }) => (
            <TextField
              key={name}
              label={name}
              autoComplete="off"
              required={required}
              isRequired={required}
              value={values[name] ?? ''}
              onChange={value => setValues({ ...values, [name]: value })}
            />
          ))}
      </div>
      {jsonBodyOf(operation) && (
        <TextArea
          label="Body"
          spellCheck={false}
          className="[&_textarea]:font-mono"
          value={body}
          onChange={setBody}
        />
      )}
      <div className="flex flex-wrap items-center gap-4">
        <Button type="submit" variant={isWrite ? 'danger' : 'primary'} isPending={isSending}>
          Send
        </Button>
        {parameters.some(({ name }) => name === dryRun) && (
          <Checkbox
            label="Dry run: nothing is saved"
            checked={isDry}
            onChange={isOn => setValues({ ...values, [dryRun]: isOn ? '1' : '' })}
          />
        )}
      </div>
      <ErrorMessage text={error} />
      <div aria-live="polite">
        {answer && (
          <>
            <p className="mb-1 font-medium">Status {answer.status}</p>
            <CodeBlock>{textOf(answer.body)}</CodeBlock>
          </>
        )}
      </div>
    </form>
  )
}

/** Throws if there is no answer. A refusal is one. */
async function answerOf(
  operation: Operation,
  { client }: Reader,
  values: Values,
  body: string,
): Promise<Answer> {
  const { method, path, parameters } = operation
  const given = (place: string) =>
    Object.fromEntries(
      parameters
        .filter(one => one.in === place && values[one.name])
        .map(({ name }) => [name, values[name]!] as const),
    )
  const inPath = given('path')
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name] ?? ''))
  try {
    return await client.request(method, address, {
      query: given('query'),
      headers: { accept: acceptOf(operation), ...given('header') },
      ...(jsonBodyOf(operation) ? { body: parsed(body) } : {}),
    })
  } catch (error) {
    if (error instanceof DealwrightError) return { status: error.status, body: error.body }
    throw error
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Unsendable(`The body is not valid JSON: ${(error as Error).message}`)
  }
}

/** The media type of its answer, of several the first that can be read here. */
function acceptOf({ responses }: Operation): string {
  const types = responses
    .filter(([status]) => status < '300')
    .flatMap(([, one]) => Object.keys(one.content ?? {}))
  const readable = types.find(type => !type.startsWith('text/html'))
  return readable ?? 'application/json'
}

const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body, null, 2))
