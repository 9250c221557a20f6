/** DROPDOWN: one of some options, by its id. */
import type { Field } from '../../api/api.ts'
import { Select } from '../../ui/inputs.tsx'
import type { InputProps, Kind, NamesOf, OperandProps } from '../kind.ts'
import { operandOf } from '../operand.tsx'
import { joinList, splitList } from '../operand-list.ts'
import { checkOption, optionName, readOption, useChoices, useInactiveOptions } from '../options.ts'
import { RadioChips } from '../radio-chips.tsx'

/** Up to this number of options, with short names, all of them are shown. */
const fewest = 7
const fewLetters = 48

function LookedUpName({ id, field }: { id: unknown; field: Field }) {
  return optionName(id, null, useChoices(field))
}

function OptionCell({ value, field, names }: { value: unknown; field: Field; names: NamesOf }) {
  return field.options || names ? (
    optionName(value, names, field.options ?? [])
  ) : (
    <LookedUpName id={value} field={field} />
  )
}

function DropdownInput(props: InputProps<number | string>) {
  const { value, onChange, field, label, isLabelHidden, error, names, record, autoFocus } = props
  const choices = useChoices(field, record)
  // An inactive option stays with the record that has it (D10).
  const isKnown = value === null || choices.some(({ id }) => id === value)
  const offered = isKnown
    ? choices
    : [{ id: value as number, name: `${optionName(value, names, [])} (inactive)` }, ...choices]
  const change = (chosen: string | null) => onChange(chosen === null ? null : Number(chosen))
  // Until the stages are loaded, the field's options show their number.
  const all = choices.length > 0 ? offered : (field.options ?? [])
  const letters = all.reduce((sum, { name }) => sum + (name?.length ?? 0) + 4, 0)
  if (!isLabelHidden && field.options && all.length <= fewest && letters <= fewLetters) {
    return (
      <RadioChips
        {...{ label, error, autoFocus }}
        isRequired={field.is_required}
        choices={offered}
        value={value}
        onChange={onChange}
      />
    )
  }
  return (
    <Select
      {...{ label, isLabelHidden, error, autoFocus }}
      isRequired={field.is_required}
      value={value}
      onChange={change}
      choices={offered}
      none={field.is_required && value !== null ? undefined : field.is_required ? 'Choose…' : '—'}
    />
  )
}

function OneOption({ value, onChange, field, label }: OperandProps) {
  const choices = [...useChoices(field), ...useInactiveOptions(field)]
  const found = choices.find(({ id, name }) => String(id) === value || name === value)
  return (
    <Select
      label={label}
      isLabelHidden
      value={found?.id ?? value}
      onChange={id => onChange(id ?? '')}
      choices={choices}
      none="Choose…"
    />
  )
}

function ManyOptions({ value, onChange, field, label }: OperandProps) {
  const choices = [...useChoices(field), ...useInactiveOptions(field)]
  const chosen = splitList(value)
  const known = choices.map(({ id, name }) => ({
    id: String(id),
    name,
    isChosen: chosen.includes(String(id)) || (name !== null && chosen.includes(name)),
  }))
  const isKnown = (one: string) => choices.some(({ id, name }) => String(id) === one || name === one)
  // Options that are gone, or not loaded yet, stay in the condition.
  const nameOf = (one: string) => optionName(/^\d+$/.test(one) ? Number(one) : one, null, [])
  const gone = chosen.filter(one => !isKnown(one)).map(id => ({ id, name: nameOf(id), isChosen: true }))
  const offered = [...known, ...gone]
  return (
    <fieldset className="max-h-64 overflow-auto rounded-sm border border-line p-1.5">
      <legend className="unseen">{label}</legend>
      {offered.map(({ id, name, isChosen }) => (
        <label key={id} className="flex min-h-7 items-center gap-2 rounded-sm px-1.5 hover:bg-hover">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={isChosen}
            onChange={event =>
              onChange(
                joinList(
                  offered
                    .filter(one => (one.id === id ? event.target.checked : one.isChosen))
                    .map(one => one.id),
                ),
              )
            }
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}

export const OptionOperand = operandOf(OneOption, ManyOptions)

export const dropdown: Kind<number | string> = {
  Cell: OptionCell,
  Input: DropdownInput,
  Operand: OptionOperand,
  text: (value, names, _format, field) => optionName(value, names, field.options ?? []),
  parse: (typed, field) => (typed.trim() === '' ? null : readOption(typed, field)),
  check: checkOption,
  groups: 'value',
  width: 150,
}
