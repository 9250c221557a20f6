/** Asks for the new values of one field or several, which all selected records get by one change. */
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { errorMessage, type Field } from '../../api/api.ts'
import { type ListRequest, mayRead, queryClient, type Stage, stagesQuery } from '../../api/queries.ts'
import { stageKinds } from '../../api/stage-kind.ts'
import { MoveDialog } from '../../board/close-dialog.tsx'
import { useCurrencies } from '../../fields/currencies.ts'
import { kindOf } from '../../fields/kinds.ts'
import { problemsWithin } from '../../fields/references/new-related.ts'
import { useFormat } from '../../format/use-format.tsx'
import { FieldPicker } from '../../list/field-picker.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { byCtrlEnter, keepFocus } from '../../ui/keys.ts'
import { toastError } from '../../ui/toast.tsx'
import { useIsGone, useLatest } from '../../ui/use-latest.ts'
import {
  firstPlace,
  isEmpty,
  isWritable,
  type Problems,
  problemsLeft,
  problemsOf,
  serializeValues,
  type Values,
  valuesAsShown,
} from '../editing/draft.ts'
import { focusField } from '../editing/record-form.tsx'
import { countOfSelected } from './read-selected.ts'
import type { Selection } from './selection.ts'

/** The prefix of the ids of the dialog's inputs. */
const form = 'bulk'

type Props = {
  resource: string
  request: ListRequest
  selection: Selection
  fields: readonly Field[]
  count: number
  /** the chosen field; null: none */
  first: Field | null
  onClose: () => void
  /** resolves once it has begun, or could not: all stays as it is then */
  onDone: (values: Values) => Promise<void>
}

export function BulkDialog(props: Props) {
  const { resource, fields, count, first, onClose, onDone } = props
  const format = useFormat()
  const [chosen, setChosen] = useState<readonly Field[]>(first ? [first] : [])
  const [values, setValues] = useState<Values>({})
  const latest = useLatest(values)
  const isGone = useIsGone()
  const [problems, setProblems] = useState<Problems>({})
  const [isPicking, setPicking] = useState(first === null)
  const [asked, setAsked] = useState<{ readonly to: Stage; readonly count: number } | null>(null)
  // Without the currencies an amount would keep each record's, and have any number of decimals.
  const currencies = useCurrencies()
  const hasAmount = chosen.some(field => kindOf(field).asShown)
  const isWaiting = hasAmount && currencies.isLoading
  const reason =
    hasAmount && currencies.isError ? 'The currencies could not be loaded. Load the page again.' : undefined
  const [isBeginning, setBeginning] = useState(false)
  const finished = async (more: Values = {}) => {
    if (isBeginning) return
    setBeginning(true)
    await onDone({ ...serializeValues(valuesAsShown(values, chosen), chosen), ...more })
    setBeginning(false)
  }
  if (asked)
    return (
      <MoveDialog
        count={asked.count}
        from={undefined}
        stage={asked.to}
        onClose={() => (isBeginning ? onClose() : setAsked(null))}
        onClosed={more => void finished(more)}
      />
    )
  const finish = async () => {
    if (isWaiting || isBeginning || reason) return
    const required = chosen.filter(({ is_required }) => is_required).map(({ internal_name }) => internal_name)
    const found = problemsOf(valuesAsShown(values, chosen), chosen, new Set(required))
    setProblems(found)
    const wrong = firstPlace(found, chosen)
    if (wrong) return requestAnimationFrame(() => focusField(form, wrong))
    setBeginning(true)
    try {
      const isOfStage = resource === 'deal' && 'pipeline_stage' in values && mayRead('pipeline_stage')
      const question = isOfStage ? await questionOf(props, values.pipeline_stage) : null
      if (isGone.current) return
      if (question?.count) setAsked(question)
      else await finished()
    } catch (error) {
      toastError(errorMessage(error))
    } finally {
      setBeginning(false)
    }
  }
  const change = (name: string, value: unknown) => {
    const before = latest.current
    latest.current = { ...before, [name]: value }
    setValues(latest.current)
    setProblems(now => problemsLeft(now, name, before[name], value))
  }
  const leaveOut = (name: string) => {
    const { [name]: _value, ...others } = values
    setValues(others)
    setProblems(problemsLeft(problems, name, values[name], undefined))
    const rest = chosen.filter(({ internal_name }) => internal_name !== name)
    setChosen(rest)
    if (rest.length === 0) setPicking(true)
  }
  return (
    <Dialog
      title={`Change ${format.number(count)} at once`}
      isOpen
      onClose={onClose}
      isUnsaved={Object.values(values).some(value => !isEmpty(value))}
    >
      {isPicking ? (
        <FurtherField
          {...{ fields, chosen }}
          onPick={field => {
            if (field) setChosen([...chosen, field])
            setPicking(false)
          }}
        />
      ) : (
        <form
          ref={keepFocus}
          noValidate
          onKeyDown={byCtrlEnter(() => void finish())}
          onSubmit={event => {
            event.preventDefault()
            void finish()
          }}
          className="flex flex-col gap-4"
        >
          {chosen.map((field, index) => (
            <BulkField
              key={field.internal_name}
              {...{ field, values, problems }}
              autoFocus={index === chosen.length - 1}
              onChange={value => change(field.internal_name, value)}
              onLeaveOut={() => leaveOut(field.internal_name)}
            />
          ))}
          <Button variant="quiet" isSmall className="self-start" onPress={() => setPicking(true)}>
            <Plus size={14} aria-hidden /> Another field
          </Button>
          {chosen.some(({ is_required }) => !is_required) && (
            <p className="text-sm text-ink-faint">A field that you leave empty is cleared in all of them.</p>
          )}
          <DialogActions>
            <Button type="submit" variant="primary" isPending={isWaiting || isBeginning} reason={reason}>
              Change all {format.number(count)}
            </Button>
          </DialogActions>
        </form>
      )}
    </Dialog>
  )
}

/** A new stage and the number of deals to ask about: all are closed, or those that are closed reopened. */
async function questionOf({ resource, request, selection, count }: Props, stage: unknown) {
  const stages = await queryClient.ensureQueryData(stagesQuery)
  const to = stages.find(({ id }) => id === stage)
  if (!to || to.kind !== stageKinds.open) return to ? { to, count } : null
  const closed = stages.filter(({ kind }) => kind !== stageKinds.open).map(({ id }) => id)
  const condition = `pipeline_stage:in(${closed.join()})`
  return { to, count: closed.length && (await countOfSelected(resource, request, selection, condition)) }
}

/** `onPick`: with the field, or null for the way back. */
function FurtherField(props: {
  fields: readonly Field[]
  chosen: readonly Field[]
  onPick: (field: Field | null) => void
}) {
  const { fields, chosen, onPick } = props
  return (
    <>
      <FieldPicker
        label="Field to change"
        fields={fields.filter(field => isWritable(field) && !chosen.includes(field))}
        onPick={onPick}
      />
      {chosen.length > 0 && (
        <DialogActions>
          <Button variant="quiet" onPress={() => onPick(null)}>
            Back
          </Button>
        </DialogActions>
      )}
    </>
  )
}

function BulkField(props: {
  field: Field
  values: Values
  problems: Problems
  autoFocus: boolean
  onChange: (value: unknown) => void
  onLeaveOut: () => void
}) {
  const { field, values, problems, autoFocus, onChange, onLeaveOut } = props
  const { internal_name: name, field_name: label } = field
  const { Input } = kindOf(field)
  return (
    <div className="flex items-start gap-1">
      <div id={`${form}-${name}`} className="min-w-0 grow">
        <Input
          {...{ field, label, autoFocus, onChange }}
          value={values[name] ?? null}
          record={values}
          error={problems[name]}
          errors={problemsWithin(problems, name)}
        />
      </div>
      <IconButton label={`Don’t change ${label}`} onPress={onLeaveOut} className="mt-6">
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  )
}
