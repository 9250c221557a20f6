/** The operands of a condition: one, two or several, of a field or of a member of it. */
import { Plus, X } from 'lucide-react'
import { type Condition, takesList } from '../../../client/src/filter.ts'
import type { Field } from '../api/api.ts'
import { kindOf } from '../fields/kinds.ts'
import { MemberOperand } from '../fields/member-operand.tsx'
import { joinList, splitList } from '../fields/operand-list.ts'
import type { Formats } from '../format/format.ts'
import { Button, IconButton } from '../ui/button.tsx'
import type { ResolvedPath } from './field-path.ts'
import { asksPresence } from './filter.ts'

/** The problem of an operand by the field's kind; the service checks those of members. */
export function wrongOperand(
  draft: Condition,
  resolved: ResolvedPath | null,
  format: Formats,
): string | undefined {
  if (!resolved || resolved.member || asksPresence(draft.operator)) return undefined
  const { checkOperand } = kindOf(resolved.field)
  return draft.values.map(value => checkOperand?.(value, format)).find(Boolean)
}

export function Operands(props: {
  draft: Condition
  field: Field
  member: string
  label: string
  onChange: (values: readonly string[]) => void
}) {
  const { draft, field, member, label, onChange } = props
  const { operator, values } = draft
  const isList = takesList(operator) && operator !== 'between'
  if (!member) {
    const { Operand, Unit } = kindOf(field)
    // A kind edits several values in the form of a list's text.
    const value = takesList(operator) ? joinList(values) : values[0]!
    const take = (text: string) => onChange(takesList(operator) ? splitList(text) : [text])
    return (
      <span className="flex items-center gap-1.5">
        <span className="min-w-0 grow">
          <Operand {...{ value, field, operator, label }} onChange={take} />
        </span>
        {Unit && (
          <span className="text-ink-soft">
            <Unit />
          </span>
        )}
      </span>
    )
  }
  return (
    <>
      {values.map((value, index) => {
        const name =
          operator === 'between'
            ? `${label}, ${index ? 'to' : 'from'}`
            : isList
              ? `${label}, ${index + 1}`
              : label
        const operand = {
          value,
          field,
          operator,
          label: name,
          onChange: (text: string) => onChange(values.map((one, at) => (at === index ? text : one))),
        }
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a value has nothing else to be known by
          <div key={index} className="flex items-start gap-1">
            <div className="min-w-0 grow">
              <MemberOperand {...operand} member={member} />
            </div>
            {isList && values.length > 1 && (
              <IconButton
                label={`Remove value ${index + 1}`}
                onPress={() => onChange(values.filter((_, at) => at !== index))}
              >
                <X size={14} aria-hidden />
              </IconButton>
            )}
          </div>
        )
      })}
      {isList && (
        <Button variant="quiet" isSmall className="self-start" onPress={() => onChange([...values, ''])}>
          <Plus size={14} aria-hidden />
          Another value
        </Button>
      )}
    </>
  )
}
