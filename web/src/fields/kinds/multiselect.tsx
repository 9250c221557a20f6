/** MULTISELECT: several options, by their ids. */
import { Badge } from '../../ui/elements.tsx'
import { Group } from '../group.tsx'
import type { InputProps, Kind } from '../kind.ts'
import { checkOption, optionName, readOption, useChoices } from '../options.ts'
import { OptionOperand } from './dropdown.tsx'

type Ids = readonly (number | string)[]

function MultiselectInput(props: InputProps<Ids>) {
  const { value, onChange, field, label, isLabelHidden, error, names, autoFocus } = props
  const choices = useChoices(field)
  const chosen = value ?? []
  const gone = chosen.filter(id => !choices.some(one => one.id === id))
  const offered = [...choices, ...gone.map(id => ({ id, name: `${optionName(id, names, [])} (inactive)` }))]
  const change = (id: number | string, isIn: boolean) => {
    const next = isIn ? [...chosen, id] : chosen.filter(one => one !== id)
    onChange(next.length > 0 ? next : null)
  }
  return (
    <Group {...{ label, isLabelHidden, error }} isRequired={field.is_required}>
      <div className="flex max-h-56 flex-wrap gap-1.5 overflow-auto p-0.5">
        {offered.map(({ id, name }, index) => (
          <label
            key={id}
            className="inline-flex min-h-7 items-center gap-1.5 rounded-sm border border-line-strong/60 px-2
              hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              autoFocus={autoFocus && index === 0}
              checked={chosen.includes(id)}
              onChange={event => change(id, event.target.checked)}
              className="size-3.5 accent-accent"
            />
            {name}
          </label>
        ))}
      </div>
    </Group>
  )
}

export const multiselect: Kind<Ids> = {
  Cell: ({ value, field, names }) => (
    <span className="inline-flex max-w-full flex-wrap gap-1">
      {value.map(id => (
        <Badge key={id}>{optionName(id, names, field.options ?? [])}</Badge>
      ))}
    </span>
  ),
  Input: MultiselectInput,
  Operand: OptionOperand,
  text: (value, names, _format, field) =>
    value.map(id => optionName(id, names, field.options ?? [])).join(', '),
  parse: (typed, field) => {
    const list = typed
      .split(/[,;\n]/)
      .map(part => part.trim())
      .filter(Boolean)
    return list.length > 0 ? list.map(part => readOption(part, field)) : null
  },
  check: (value, field) => {
    const { max_limit = 100 } = field.config
    if (value.length > max_limit) return `Must have at most ${max_limit} options.`
    return value.map(id => checkOption(id, field)).find(Boolean)
  },
  width: 200,
}
