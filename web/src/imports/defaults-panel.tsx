/** Values for all rows: of required fields without a column, and of others that are added. */
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { Dialog, DialogTrigger } from 'react-aria-components'
import type { Field } from '../api/api.ts'
import { useCurrencies } from '../fields/currencies.ts'
import { kindOf } from '../fields/kinds.ts'
import { FieldPicker } from '../list/field-picker.tsx'
import { isEmpty, isWritable, serializeValue } from '../records/editing/draft.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/inputs.tsx'
import { Popover } from '../ui/menu.tsx'
import { Panel } from '../ui/page.tsx'
import { changeDefaults, type Import, refused } from './import.ts'
import { goneDefaults, labelIn, missingFields, openCurrencies } from './missing-fields.ts'
import { focusHeading } from './steps.tsx'

type Props = { job: Import; fields: readonly Field[] }
/** A target that can have a value for all rows: a field, or the currency of one. */
type Offered = { readonly target: string; readonly label: string; readonly field: Field | undefined }

export function DefaultsPanel({ job, fields }: Props) {
  const [added, setAdded] = useState<readonly string[]>([])
  const { defaults, targets } = job
  const offered = targets.flatMap(({ field: target, label }): Offered[] => {
    const field = fields.find(({ internal_name }) => internal_name === target)
    const isCurrency =
      target.endsWith('.currency') && fields.some(one => `${one.internal_name}.currency` === target)
    return isCurrency || (field && isWritable(field)) ? [{ target, label, field }] : []
  })
  const needed = [
    ...missingFields({ ...job, defaults: {} }, fields).map(({ internal_name }) => internal_name),
    ...openCurrencies(job),
  ]
  const shown = [...new Set([...needed, ...Object.keys(defaults), ...added])]
  const rows = offered.filter(({ target }) => shown.includes(target))
  const others = offered.filter(({ target }) => !shown.includes(target))
  const take = (target: string, value: unknown) =>
    changeDefaults(job, { [target]: isEmpty(value) ? null : value })
  return (
    <Panel
      title="Default values"
      detail="Used for rows whose cell is empty, and for fields without a column."
      actions={<AddField offered={others} onAdd={target => setAdded([...added, target])} />}
    >
      {goneDefaults(job).map(target => (
        <div
          key={target}
          role="status"
          className="m-4 flex flex-wrap items-center gap-2 rounded-sm bg-warn-soft px-3 py-2"
        >
          <p className="grow text-warn">
            The field {labelIn(target, fields)} is not there any more, so its default value can’t be used.
          </p>
          <Button
            isSmall
            aria-label={`Leave out the value of ${labelIn(target, fields)}`}
            onPress={() => {
              take(target, null)
              // This button disappears with its message.
              focusHeading()
            }}
          >
            Leave out
          </Button>
        </div>
      ))}
      {rows.length === 0 ? (
        <p className="p-4 text-ink-soft">There are no default values.</p>
      ) : (
        <ul className="divide-y divide-line">
          {rows.map(one => (
            <li
              key={one.target}
              className="grid items-center gap-x-4 gap-y-1 px-4 py-2 sm:grid-cols-[1fr_2.4fr]"
            >
              <span className="font-medium">{one.label}</span>
              <span className="flex min-w-0 items-center gap-2">
                <span className="min-w-0 grow">
                  <Editor {...one} defaults={defaults} onTake={value => take(one.target, value)} />
                </span>
                {!needed.includes(one.target) && (
                  <IconButton
                    label={`No value of ${one.label} for all rows`}
                    onPress={() => {
                      setAdded(added.filter(target => target !== one.target))
                      take(one.target, null)
                    }}
                  >
                    <X size={14} aria-hidden />
                  </IconButton>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Editor(props: Offered & { defaults: Import['defaults']; onTake: (value: unknown) => void }) {
  const { target, label, field, defaults, onTake } = props
  // The typed value may be incomplete, and the saved value has another form.
  const [typed, setTyped] = useState<unknown>(defaults[target] ?? null)
  const unsaved = refused.use()
  const named = `${label}, for all rows`
  if (!field) return <CurrencyForAll label={named} value={String(defaults[target] ?? '')} onTake={onTake} />
  const { Input, check } = kindOf(field)
  const problem = unsaved && target in unsaved.defaults ? `Not saved: ${unsaved.message}` : undefined
  return (
    <Input
      isLabelHidden
      field={field}
      label={named}
      value={typed}
      record={{ ...defaults, [target]: typed }}
      error={(isEmpty(typed) ? undefined : check?.(typed, field)) ?? problem}
      onChange={value => {
        setTyped(value)
        // A typed name is resolved when the box is left.
        const isTyping = field.related_field !== undefined && typeof value === 'string'
        if (!isTyping && (isEmpty(value) || !check?.(value, field))) onTake(serializeValue(field, value))
      }}
    />
  )
}

function CurrencyForAll(props: { label: string; value: string; onTake: (code: string | null) => void }) {
  const { list, base } = useCurrencies()
  return (
    <Select
      isLabelHidden
      label={props.label}
      value={props.value}
      onChange={props.onTake}
      none={`Account default${base ? `: ${base.code}` : ''}`}
      choices={list.map(({ code, name }) => ({ id: code, name: `${code} · ${name}` }))}
    />
  )
}

function AddField({ offered, onAdd }: { offered: readonly Offered[]; onAdd: (target: string) => void }) {
  const [isOpen, setOpen] = useState(false)
  const label = 'Which field all rows have a value of'
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button isSmall>
        <Plus size={14} aria-hidden /> Add a default…
      </Button>
      <Popover placement="bottom end" className="w-80 max-w-[calc(100vw-16px)]">
        <Dialog aria-label={label} className="outline-none">
          <FieldPicker
            label={label}
            fields={offered.map(one => ({
              internal_name: one.target,
              field_name: one.label,
              section: one.field?.section ?? 'Currencies',
            }))}
            onPick={({ internal_name }) => {
              setOpen(false)
              onAdd(internal_name)
            }}
          />
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}
