/** Pipelines and their stages: names, order and kinds. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import { callApi } from '../../api/api.ts'
import { type Pipeline, pipelinesQuery, stagesQuery } from '../../api/queries.ts'
import { stageKinds } from '../../api/stage-kind.ts'
import { Loading } from '../../shell/load-error.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/elements.tsx'
import { TextField } from '../../ui/inputs.tsx'
import { PageBody, PageHead } from '../../ui/page.tsx'
import { DeleteDialog, DialogForm } from '../dialogs.tsx'
import { isYes } from '../record-values.ts'
import { saveWithToast, useSaving } from '../saving.ts'
import { useOpenDialog } from '../use-open-dialog.ts'
import { CardFieldsDialog } from './card-fields-dialog.tsx'
import { StageList } from './stages.tsx'

type Open = 'new' | 'rename' | 'cards' | 'delete' | null

export function Pipelines() {
  const reason = useReadOnlyReason('pipeline')
  const { id } = useSearch({ strict: false }) as { id?: string }
  const [open, setOpen] = useOpenDialog<Open>('new')
  const me = useMe()
  const read = useQuery({ ...pipelinesQuery, enabled: may(me, 'pipeline:read') })
  const staged = useQuery(stagesQuery)
  const [pipelines, stages] = [read.data, staged.data]
  const shown = pipelines?.find(pipeline => String(pipeline.id) === id) ?? pipelines?.[0]
  const close = () => setOpen(null)
  return (
    <>
      <PageHead title="Pipelines and stages">
        <Button variant="primary" reason={reason} onPress={() => setOpen('new')}>
          <Plus size={14} aria-hidden /> New pipeline
        </Button>
      </PageHead>
      <PageBody>
        <Loading of={[read, staged]} className="h-64" />
        {pipelines && pipelines.length > 1 && <Tabs pipelines={pipelines} shown={shown} />}
        {pipelines?.length === 0 && <EmptyState title="There is no pipeline yet: deals need one." />}
        {shown && stages && (
          <StageList
            key={shown.id}
            pipeline={shown}
            stages={stages.filter(({ pipeline }) => pipeline === shown.id)}
            allStages={stages}
            pipelines={pipelines ?? []}
            actions={
              <PipelineActions
                pipeline={shown}
                pipelines={pipelines ?? []}
                reason={reason}
                onOpen={setOpen}
              />
            }
          />
        )}
      </PageBody>
      {open === 'new' && <NewPipeline onClose={close} />}
      {open === 'rename' && shown && <RenamePipeline pipeline={shown} onClose={close} />}
      {open === 'cards' && shown && <CardFieldsDialog pipeline={shown} onClose={close} />}
      {open === 'delete' && shown && (
        <DeleteDialog
          what={`the pipeline “${shown.name}”`}
          path={`/pipeline/${shown.id}`}
          message={`Deleted the pipeline “${shown.name}”`}
          moveTo={{
            label: 'Move its deals to',
            isNeeded: false,
            choices: (pipelines ?? []).filter(other => other.id !== shown.id),
            nowhere: 'There is no other pipeline. While this one has deals, it can’t be deleted.',
          }}
          onClose={close}
        >
          <p className="text-ink-soft">
            Each deal goes to the stage of the same name and kind there; without one, to the first of the same
            kind.
          </p>
        </DeleteDialog>
      )}
    </>
  )
}

function Tabs({ pipelines, shown }: { pipelines: readonly Pipeline[]; shown: Pipeline | undefined }) {
  return (
    <nav aria-label="Pipelines" className="flex flex-wrap gap-1">
      {pipelines.map(({ id, name }) => (
        <Link
          key={id}
          to="/settings/$page"
          params={{ page: 'pipelines' }}
          search={{ id: String(id) }}
          aria-current={id === shown?.id ? 'true' : undefined}
          dir="auto"
          className="min-h-8 max-w-64 truncate rounded-sm px-3 py-1.5 text-ink-soft hover:bg-hover
            aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent-strong"
        >
          {name}
        </Link>
      ))}
    </nav>
  )
}

/** Makes it the only default: of several, the first by position counts. A failure leaves no two. */
async function makeDefault(pipeline: Pipeline, pipelines: readonly Pipeline[]): Promise<void> {
  for (const other of pipelines.filter(one => one.id !== pipeline.id && isYes(one.is_default)))
    await callApi('PATCH', `/pipeline/${other.id}`, { body: { is_default: 'No' } })
  await callApi('PATCH', `/pipeline/${pipeline.id}`, { body: { is_default: 'Yes' } })
}

function PipelineActions(props: {
  pipeline: Pipeline
  pipelines: Pipeline[]
  reason: string | undefined
  onOpen: (open: Open) => void
}) {
  const { pipeline, pipelines, reason, onOpen } = props
  const isDefault = isYes(pipeline.is_default)
  return (
    <div className="flex flex-wrap gap-2">
      {!isDefault && (
        <Button
          isSmall
          reason={reason}
          onPress={() =>
            void saveWithToast(
              () => makeDefault(pipeline, pipelines),
              `New deals begin in “${pipeline.name}”`,
            )
          }
        >
          Make default
        </Button>
      )}
      <Button isSmall reason={reason} onPress={() => onOpen('rename')}>
        Rename
      </Button>
      <Button isSmall reason={reason} onPress={() => onOpen('cards')}>
        Card fields
      </Button>
      <Button isSmall reason={reason} onPress={() => onOpen('delete')}>
        Delete pipeline
      </Button>
    </div>
  )
}

/** The stages of a new pipeline; they can be changed later. */
const firstStages = [
  { name: 'New', kind: stageKinds.open, probability: 10 },
  { name: 'Qualified', kind: stageKinds.open, probability: 30 },
  { name: 'Proposal', kind: stageKinds.open, probability: 50 },
  { name: 'Negotiation', kind: stageKinds.open, probability: 75 },
  { name: 'Won', kind: stageKinds.won },
  { name: 'Lost', kind: stageKinds.lost },
]

function NewPipeline({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const { problems, isBusy, save } = useSaving(['name'])
  /** what was made before something failed: it is gone on with then */
  const made = useRef<{ readonly id: number; name: string; stages: number }>(null)
  const make = async () => {
    made.current ??= {
      ...(await callApi<Pipeline>('POST', '/pipeline', { body: { name } })),
      name,
      stages: 0,
    }
    const { id } = made.current
    if (made.current.name !== name) await callApi('PATCH', `/pipeline/${id}`, { body: { name } })
    made.current.name = name
    for (const [index, stage] of firstStages.entries()) {
      if (index < made.current.stages) continue
      await callApi('POST', '/pipeline_stage', { body: { ...stage, pipeline: id, position: index + 1 } })
      made.current.stages = index + 1
    }
  }
  return (
    <Dialog
      title="New pipeline"
      detail={`It begins with the stages ${firstStages.map(stage => stage.name).join(', ')}.`}
      isOpen
      onClose={onClose}
    >
      <DialogForm
        action="Create"
        draft={name}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={async () => {
          if (!(await save(make, `Created the pipeline “${name}”`))) return
          onClose()
          const search = { id: String(made.current!.id) }
          await navigate({ to: '/settings/$page', params: { page: 'pipelines' }, search })
        }}
      >
        <TextField label="Name" isRequired autoFocus value={name} onChange={setName} error={problems.name} />
      </DialogForm>
    </Dialog>
  )
}

function RenamePipeline({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
  const [name, setName] = useState(pipeline.name)
  const { problems, isBusy, save } = useSaving(['name'])
  const rename = () => callApi('PATCH', `/pipeline/${pipeline.id}`, { body: { name } })
  return (
    <Dialog title="Rename the pipeline" isOpen onClose={onClose}>
      <DialogForm
        action="Save"
        draft={name}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={async () => (await save(rename, `The pipeline is called “${name}” now`)) && onClose()}
      >
        <TextField label="Name" isRequired autoFocus value={name} onChange={setName} error={problems.name} />
      </DialogForm>
    </Dialog>
  )
}
