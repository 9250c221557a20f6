/** The stages of a pipeline: a row each, in the order of the board. */
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { callApi, errorMessage } from '../../api/api.ts'
import { type Pipeline, queryClient, type Stage, stagesQuery } from '../../api/queries.ts'
import type { StageKind } from '../../api/stage-kind.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Badge } from '../../ui/elements.tsx'
import { moved } from '../../ui/order.ts'
import { Panel } from '../../ui/page.tsx'
import { SortButtons, SortHandle, sortLook, sortRow, useSorting } from '../../ui/sortable.tsx'
import { toast, toastError } from '../../ui/toast.tsx'
import { DeleteDialog } from '../dialogs.tsx'
import { DeleteButton, EditButton } from '../row-buttons.tsx'
import { refetchAll, saveOrder } from '../saving.ts'
import { useOpenDialog } from '../use-open-dialog.ts'
import { StageDialog } from './stage-dialog.tsx'

const kindNames: { readonly [kind in StageKind]: string } = { 1: 'Open', 2: 'Won', 3: 'Lost' }
const looks = { 1: 'plain', 2: 'won', 3: 'lost' } as const

type OpenDialog = { readonly how: 'edit' | 'delete'; readonly stage: Stage } | { readonly how: 'new' } | null

export function StageList(props: {
  pipeline: Pipeline
  stages: readonly Stage[]
  allStages: readonly Stage[]
  pipelines: readonly Pipeline[]
  actions: ReactNode
}) {
  const { pipeline, stages, allStages, pipelines, actions } = props
  const reason = useReadOnlyReason('pipeline_stage')
  const format = useFormat()
  const [opened, setOpened] = useOpenDialog<OpenDialog>({ how: 'new' }, 'stage')
  const counts = useCounts()
  const place = (from: number, before: number) =>
    void arrange(stages, moved(stages, from, before), stages[from]!)
  const sorting = useSorting((key, { index }) => {
    const from = stages.findIndex(({ id }) => String(id) === key)
    if (from >= 0 && index !== from && index !== from + 1) place(from, index)
  })
  const close = () => setOpened(null)
  return (
    <Panel
      title={pipeline.name}
      detail={
        pipeline.is_default === 1
          ? 'The default: new deals begin here.'
          : 'Deals are made here when one says so.'
      }
      actions={actions}
    >
      <div ref={sorting.root}>
        <ol aria-label={`Stages of ${pipeline.name}`}>
          {stages.map((stage, index) => (
            <li
              key={stage.id}
              {...sortRow(sorting, String(stage.id), 'stages', index, stages.length)}
              className={classes(
                'grid grid-cols-[auto_1fr_auto] items-center gap-x-2 border-line px-3 py-1.5 not-first:border-t',
                sortLook,
              )}
            >
              <SortHandle sorting={sorting} id={String(stage.id)} isDisabled={reason !== undefined} />
              <div className="flex min-w-0 flex-wrap items-center gap-x-4 sm:grid sm:grid-cols-[minmax(0,1fr)_56px_64px_130px_84px]">
                <span className="truncate font-medium max-sm:w-full" dir="auto" title={stage.name}>
                  {stage.name}
                </span>
                <span className="flex">
                  <Badge variant={looks[stage.kind]}>{kindNames[stage.kind]}</Badge>
                </span>
                <span className="tabular text-ink-soft sm:text-right">
                  <span className="unseen">Probability </span>
                  {format.percent(stage.probability)}
                </span>
                <span className="text-ink-soft max-sm:empty:hidden">
                  {stage.rotting_days ? `rots after ${stage.rotting_days} d` : ''}
                </span>
                <span className="tabular text-ink-soft sm:text-right">
                  {counts ? format.counted(counts.get(stage.id) ?? 0, 'deal', 'deals') : ''}
                </span>
              </div>
              <div className="flex">
                <SortButtons
                  name={stage.name}
                  id={String(stage.id)}
                  reason={reason}
                  up={index > 0 ? () => place(index, index - 1) : null}
                  down={index < stages.length - 1 ? () => place(index, index + 2) : null}
                />
                <EditButton
                  name={stage.name}
                  reason={reason}
                  onPress={() => setOpened({ how: 'edit', stage })}
                  className="size-7!"
                />
                <DeleteButton
                  name={stage.name}
                  reason={reason}
                  onPress={() => setOpened({ how: 'delete', stage })}
                  className="size-7!"
                />
              </div>
            </li>
          ))}
        </ol>
      </div>
      <div className="border-t border-line px-3 py-2">
        <Button variant="quiet" reason={reason} onPress={() => setOpened({ how: 'new' })}>
          <Plus size={14} aria-hidden /> Add a stage
        </Button>
      </div>
      {opened?.how === 'new' && <StageDialog pipeline={pipeline} stages={stages} onClose={close} />}
      {opened?.how === 'edit' && (
        <StageDialog pipeline={pipeline} stages={stages} stage={opened.stage} onClose={close} />
      )}
      {opened?.how === 'delete' && (
        <DeleteStage
          stage={opened.stage}
          count={counts?.get(opened.stage.id) ?? 0}
          others={targetsOf(opened.stage, allStages, pipelines)}
          onClose={close}
        />
      )}
    </Panel>
  )
}

/** Number of deals in each stage. */
function useCounts(): ReadonlyMap<number, number> | undefined {
  const me = useMe()
  const { data } = useQuery({
    queryKey: ['sums', 'deal', 'stages'],
    enabled: may(me, 'deal:read'),
    queryFn: () =>
      callApi<{ group: number; count: number }[]>('GET', '/deal/aggregate', {
        query: { group_by: 'pipeline_stage', measures: 'count' },
      }),
  })
  return data && new Map(data.map(({ group, count }) => [group, count]))
}

/** Shows the new order of the stages at once, and saves the changed positions. */
async function arrange(before: readonly Stage[], after: readonly Stage[], stage: Stage): Promise<void> {
  const at = after.findIndex(({ id }) => id === stage.id) + 1
  const placed = after.map((other, index) => ({ ...other, position: index + 1 }))
  const shown = new Map(placed.map(other => [other.id, other]))
  const show = (stages: readonly Stage[]) => {
    const byId = new Map(stages.map(other => [other.id, other]))
    queryClient.setQueryData(stagesQuery.queryKey, all =>
      all?.map(other => byId.get(other.id) ?? other).sort((a, b) => a.position - b.position),
    )
  }
  show(placed)
  const undo = () =>
    void arrange(
      placed,
      before.map(({ id }) => shown.get(id)!),
      stage,
    )
  try {
    const send = async () => {
      // The order that is shown may have been passed over, or refused.
      for (const { id, position } of placed)
        await callApi('PATCH', `/pipeline_stage/${id}`, { body: { position } })
    }
    // A later order is shown already.
    if (!(await saveOrder(`stages ${stage.pipeline}`, after, send))) return
    toast(`“${stage.name}” is stage ${at} of ${after.length} now`, { action: { label: 'Undo', act: undo } })
  } catch (error) {
    show(before)
    toastError(errorMessage(error))
  }
  await refetchAll()
}

/** The stages to which deals of a stage can move: of the same kind, those of its pipeline first. */
function targetsOf(stage: Stage, all: readonly Stage[], pipelines: readonly Pipeline[]) {
  const same = all.filter(other => other.kind === stage.kind && other.id !== stage.id)
  const own = same.filter(({ pipeline }) => pipeline === stage.pipeline)
  const others = same.filter(({ pipeline }) => pipeline !== stage.pipeline)
  const pipelineOf = (id: number) => pipelines.find(pipeline => pipeline.id === id)?.name ?? ''
  return [
    ...own.map(({ id, name }) => ({ id, name })),
    ...others.map(({ id, name, pipeline }) => ({ id, name: `${pipelineOf(pipeline)} · ${name}` })),
  ]
}

function DeleteStage(props: {
  stage: Stage
  count: number
  others: readonly { id: number; name: string }[]
  onClose: () => void
}) {
  const { stage, count, others, onClose } = props
  const format = useFormat()
  const deals = format.counted(count, 'deal', 'deals')
  return (
    <DeleteDialog
      what={`the stage “${stage.name}”`}
      path={`/pipeline_stage/${stage.id}`}
      message={count ? `Deleted “${stage.name}” and moved its ${deals}` : `Deleted the stage “${stage.name}”`}
      moveTo={
        count > 0 || others.length > 0
          ? {
              label: `Move its ${deals} to`,
              choices: others,
              isNeeded: count > 0,
              nowhere: `No other stage means ${kindNames[stage.kind]}. Its ${deals} need one: add it first.`,
            }
          : undefined
      }
      onClose={onClose}
    >
      <p className="text-ink-soft">
        {count > 0
          ? `Its deals go to another stage of the same kind (${kindNames[stage.kind]}).`
          : 'No deal is in it.'}
      </p>
    </DeleteDialog>
  )
}
