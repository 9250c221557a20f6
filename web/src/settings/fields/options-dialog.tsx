/** The options of a dropdown: named, reordered, deactivated. Records keep inactive ones (D10). */
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type FormEvent, useRef, useState } from 'react'
import { callApi, type Field } from '../../api/api.ts'
import { type Option, queryClient } from '../../api/queries.ts'
import { optionsMax } from '../../fields/custom-types.ts'
import { allOptionsQuery } from '../../fields/options.ts'
import { Loading } from '../../shell/load-error.tsx'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Dialog, useDraftInside } from '../../ui/dialog.tsx'
import { Badge } from '../../ui/elements.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { TextField } from '../../ui/inputs.tsx'
import { moved } from '../../ui/order.ts'
import { SortButtons, SortHandle, type Sorting, sortLook, sortRow, useSorting } from '../../ui/sortable.tsx'
import { saveWithToast, useSaving } from '../saving.ts'

export function OptionsDialog({
  source,
  field,
  onClose,
}: {
  source: string
  field: Field
  onClose: () => void
}) {
  const query = allOptionsQuery(source, field.internal_name)
  const read = useQuery(query)
  const options = read.data
  const path = `/field/${field.id}/option`
  const move = (from: number, before: number) => {
    if (!options || before === from || before === from + 1) return
    const after = moved(options, from, before)
    const option = options[from]!
    const position = after.indexOf(option) + 1
    queryClient.setQueryData(query.queryKey, after)
    void saveWithToast(
      () => callApi('PATCH', `${path}/${option.id}`, { body: { position } }),
      `“${option.name}” is option ${position} of ${after.length} now`,
      () => callApi('PATCH', `${path}/${option.id}`, { body: { position: from + 1 } }),
    )
  }
  const sorting = useSorting((key, { index }) =>
    move(options?.findIndex(({ id }) => String(id) === key) ?? -1, index),
  )
  const used = options?.filter(({ is_active }) => is_active).length ?? 0
  return (
    <Dialog
      title={`Options of “${field.field_name}”`}
      detail={`${used} of at most ${optionsMax} are active.`}
      isOpen
      onClose={onClose}
      width="wide"
    >
      <Loading of={[read]} className="h-40" />
      <div ref={sorting.root}>
        <ol aria-label={`Options of ${field.field_name}`} className="rounded-sm border border-line">
          {options?.map((option, index) => (
            <OptionRow
              key={option.id}
              option={option}
              path={path}
              sorting={sorting}
              row={sortRow(sorting, String(option.id), 'options', index, options.length)}
              up={index > 0 ? () => move(index, index - 1) : null}
              down={index < options.length - 1 ? () => move(index, index + 2) : null}
            />
          ))}
        </ol>
      </div>
      <NewOption path={path} />
      <p className="pt-3 text-sm text-ink-faint">
        Records keep an inactive option. To replace it, filter the table by it and change the records
        together.
      </p>
    </Dialog>
  )
}

function OptionRow(props: {
  option: Option
  path: string
  sorting: Sorting
  row: object
  up: (() => void) | null
  down: (() => void) | null
}) {
  const { option, path, sorting, row, up, down } = props
  const { id, name, is_active, is_default } = option
  const [typed, setTyped] = useState<string | null>(null)
  /** the name that is being saved */
  const sent = useRef<string>(null)
  const { problems, save, setProblems } = useSaving(['name'])
  const change = (body: object) => callApi('PATCH', `${path}/${id}`, { body })
  const rename = async () => {
    // The same name is not sent twice, by Enter and by leaving the box.
    if (typed === null || typed === sent.current) return
    if (typed === name && sent.current === null) return setTyped(null)
    sent.current = typed
    const isSaved = await save(() => change({ name: typed }), `The option is called “${typed}” now`)
    if (sent.current === typed) sent.current = null
    // A name that was typed meanwhile stays.
    if (isSaved) setTyped(now => (now === typed ? null : now))
  }
  return (
    <li
      {...row}
      className={classes(
        'flex flex-wrap items-center gap-2 border-line px-2 py-1.5 not-first:border-t',
        sortLook,
      )}
    >
      <SortHandle sorting={sorting} id={String(id)} />
      <TextField
        label={`Name of option ${name}`}
        isLabelHidden
        className="min-w-32 grow"
        value={typed ?? name ?? ''}
        onChange={setTyped}
        onBlur={() => void rename()}
        onKeyDown={event => {
          if (event.key === 'Enter') void rename()
          if (event.key !== 'Escape' || typed === null) return
          event.stopPropagation()
          setTyped(null)
          setProblems({})
        }}
        error={problems.name ?? problems['']}
      />
      {is_default && <Badge variant="accent">default</Badge>}
      {!is_active && <Badge variant="warn">inactive</Badge>}
      <span className="flex items-center">
        <Button
          isSmall
          variant="quiet"
          aria-label={`${is_active ? 'Deactivate' : 'Activate'}: ${name}`}
          onPress={() =>
            void saveWithToast(
              () => change({ is_active: !is_active }),
              is_active ? `“${name}” is inactive` : `“${name}” is active`,
              () => change({ is_active }),
            )
          }
        >
          {is_active ? 'Deactivate' : 'Activate'}
        </Button>
        <SortButtons name={name ?? ''} id={`option ${id}`} up={up} down={down} />
      </span>
    </li>
  )
}

function NewOption({ path }: { path: string }) {
  const [name, setName] = useState('')
  useDraftInside(name)
  const { problems, isBusy, save } = useSaving(['name'])
  const add = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    const body = { name }
    if (await save(() => callApi('POST', path, { body }), `Added the option “${name}”`)) setName('')
  }
  return (
    <form onSubmit={event => void add(event)} className="mt-3 flex items-start gap-2" noValidate>
      <TextField
        label="New option"
        isLabelHidden
        placeholder="New option"
        className="grow"
        value={name}
        onChange={setName}
        error={problems.name}
      />
      <Button type="submit" isPending={isBusy}>
        <Plus size={14} aria-hidden /> Add
      </Button>
      <ErrorMessage text={problems['']} />
    </form>
  )
}
