/** JSON: a free-form object, edited as its text. Typed text that is no object yet is unchanged. */
import { Labelled } from '../../ui/inputs.tsx'
import type { Kind } from '../kind.ts'
import { operandOf, TextOperand } from '../operand.tsx'

type JsonValue = { readonly [member: string]: unknown } | string

const written = (value: JsonValue) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

function read(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

const isEmpty = (value: JsonValue) => typeof value !== 'string' && Object.keys(value).length === 0

export const json: Kind<JsonValue> = {
  Cell: ({ value }) =>
    isEmpty(value) ? (
      <span className="text-ink-faint">—</span>
    ) : (
      <code className="font-sans break-words">{JSON.stringify(value)}</code>
    ),
  Input: ({ value, onChange, field, label, isLabelHidden, error, autoFocus }) => (
    <Labelled {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
      {wiring => (
        <textarea
          {...wiring}
          autoFocus={autoFocus}
          rows={3}
          spellCheck={false}
          value={value === null || isEmpty(value) ? '' : written(value)}
          onChange={event => onChange(event.target.value.trim() === '' ? {} : event.target.value)}
          className="field-box field-sizing-content max-h-96 resize-y font-mono text-sm"
        />
      )}
    </Labelled>
  ),
  Operand: operandOf(TextOperand),
  text: value => (typeof value === 'string' ? value : JSON.stringify(value)),
  parse: typed => (typed.trim() === '' ? {} : read(typed)),
  check: value =>
    typeof value === 'string' && !read(value)
      ? 'Must be an object in JSON, such as {"key": "value"}.'
      : undefined,
  write: value => (typeof value === 'string' ? (read(value) ?? value) : value),
  width: 220,
}
