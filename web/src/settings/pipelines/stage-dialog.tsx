/** The form of a stage. Its kind is fixed after creation: it decides the status of its deals (D19). */
import { useState } from 'react'
import { callApi } from '../../api/api.ts'
import type { Pipeline, Stage } from '../../api/queries.ts'
import { stageKinds } from '../../api/stage-kind.ts'
import { useFormat } from '../../format/use-format.tsx'
import { changesOf, update } from '../../records/editing/draft.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/inputs.tsx'
import { DialogForm } from '../dialogs.tsx'
import { numberIn } from '../number-input.ts'
import { useSaving } from '../saving.ts'

const fields = ['name', 'kind', 'probability', 'rotting_days']
const kinds = [
  { id: stageKinds.open, name: 'Open: the deal is being worked on' },
  { id: stageKinds.won, name: 'Won' },
  { id: stageKinds.lost, name: 'Lost' },
]

export function StageDialog(props: {
  pipeline: Pipeline
  stages: readonly Stage[]
  stage?: Stage
  onClose: () => void
}) {
  const { pipeline, stages, stage, onClose } = props
  const { locale } = useFormat()
  const [name, setName] = useState(stage?.name ?? '')
  const [kind, setKind] = useState(String(stage?.kind ?? stageKinds.open))
  const [probability, setProbability] = useState(String(stage?.probability ?? 50))
  const [rotting, setRotting] = useState(String(stage?.rotting_days ?? ''))
  const { problems, isBusy, save } = useSaving(fields)
  const isOpenKind = Number(kind) === stageKinds.open
  const body = {
    name,
    ...(isOpenKind
      ? { probability: numberIn(probability, locale), rotting_days: numberIn(rotting, locale) }
      : {}),
  }
  const write = async () => {
    if (stage) return update('pipeline_stage', stage, changesOf(stage, body), '')
    const made = { ...body, kind: Number(kind), pipeline: pipeline.id }
    if (!isOpenKind) return callApi('POST', '/pipeline_stage', { body: made })
    // Open stages come before those that close a deal.
    const closing = stages.filter(other => other.kind !== stageKinds.open)
    const position = stages.length - closing.length + 1
    for (const [index, other] of closing.entries())
      await callApi('PATCH', `/pipeline_stage/${other.id}`, { body: { position: position + index + 1 } })
    return callApi('POST', '/pipeline_stage', { body: { ...made, position } })
  }
  return (
    <Dialog
      title={stage ? `Edit “${stage.name}”` : 'New stage'}
      detail={`Of the pipeline “${pipeline.name}”`}
      isOpen
      onClose={onClose}
    >
      <DialogForm
        action={stage ? 'Save' : 'Add'}
        draft={[name, kind, probability, rotting]}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={async () =>
          (await save(write, stage ? `Saved the stage “${name}”` : `Added the stage “${name}”`)) && onClose()
        }
      >
        <TextField label="Name" isRequired autoFocus value={name} onChange={setName} error={problems.name} />
        <Select
          label="Kind"
          value={kind}
          onChange={value => setKind(value ?? String(stageKinds.open))}
          choices={kinds}
          disabled={stage !== undefined}
          error={problems.kind}
          hint={stage && 'It never changes, because it says what the deals in the stage mean.'}
        />
        {isOpenKind && (
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="Probability in %"
              inputMode="numeric"
              value={probability}
              onChange={setProbability}
              error={problems.probability}
              hint="Open deals are weighted by it."
            />
            <TextField
              label="Rotting days"
              inputMode="numeric"
              value={rotting}
              onChange={setRotting}
              error={problems.rotting_days}
              hint="Deals without news for so long are marked. Empty: never."
            />
          </div>
        )}
      </DialogForm>
    </Dialog>
  )
}
