/**
 * The stages of a deal's pipeline, as a row of choices: the current stage, and the possible moves. On a phone
 * they are a bar of steps, and the moves are in the menu at its foot.
 */
import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { errorMessage } from '../../api/api.ts'
import { type Stage, stagesQuery } from '../../api/queries.ts'
import { stageKinds } from '../../api/stage-kind.ts'
import { useFormat } from '../../format/use-format.tsx'
import { type Command, useCommands } from '../../shell/commands.ts'
import { classes } from '../../ui/classes.ts'
import { Skeleton } from '../../ui/elements.tsx'
import { toastError } from '../../ui/toast.tsx'
import type { Save } from '../editing/use-record-save.tsx'
import { stageChangesQuery } from '../timeline/history.ts'
import { stageTimes } from './stage-times.ts'
import type { ShownRecord } from './use-record.ts'

export function DealStage(props: {
  shown: ShownRecord
  save: Save
  reason: string | undefined
  isCompact?: boolean
}) {
  const { shown, save, reason, isCompact = false } = props
  const { record } = shown
  const { data, isPending } = useQuery(stagesQuery)
  const { data: changes } = useQuery(stageChangesQuery(record))
  const format = useFormat()
  const list = useRef<HTMLDivElement>(null)
  const [moving, setMoving] = useState<number | null>(null)
  /** the stage chosen during a pending move: it follows */
  const [next, setNext] = useState<Stage | null>(null)
  const stages = (data ?? []).filter(({ pipeline }) => pipeline === record.pipeline)
  const current = moving ?? record.pipeline_stage
  const place = stages.findIndex(({ id }) => id === current)
  const here = stages[place]
  const move = async (stage: Stage) => {
    if (reason) return
    if (moving !== null) return setNext(stage)
    if (stage.id === record.pipeline_stage) return
    // Another kind needs confirmation.
    if (stage.kind === here?.kind) setMoving(stage.id)
    try {
      await save(record, { pipeline_stage: stage.id }, `Moved to ${stage.name}.`)
    } catch (error) {
      toastError(errorMessage(error))
    } finally {
      setMoving(null)
    }
  }
  // The keys depend on the stages only: their action is looked up on a press.
  const latest = useRef(move)
  latest.current = move
  useEffect(() => {
    if (moving !== null || !next) return
    setNext(null)
    void latest.current(next)
  }, [moving, next])
  const kept = stages.map(({ id }) => id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `kept` says whether the stages are the same
  const commands = useMemo(() => {
    const all = commandsOf(stages, stage => void latest.current(stage))
    return all.map(command => ({ ...command, within: () => list.current }))
  }, [kept])
  useCommands(commands)
  const keys = (event: KeyboardEvent) => {
    const steps: { [key: string]: number } = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    const radios = [...(list.current?.querySelectorAll<HTMLElement>('[role="radio"]') ?? [])]
    const at = radios.indexOf(document.activeElement as HTMLElement)
    radios[(at + step + radios.length) % radios.length]?.focus()
  }
  if (isPending) return <Skeleton className={isCompact ? 'h-6.5' : 'h-13'} />
  if (stages.length === 0) return null
  const times = changes || record.version === 1 ? stageTimes(changes ?? [], record, Date.now()) : null
  const since = typeof record.deal_stage_updated_at === 'string' ? record.deal_stage_updated_at : null
  const line = here && <StageLine {...{ since, here, isCompact }} />
  if (isCompact)
    return (
      <div ref={list} className="flex flex-col gap-1">
        <Steps stages={stages} place={place} />
        {line}
      </div>
    )
  return (
    <div className="flex flex-col gap-1">
      {/* Arrows move the focus alone, and Space or Enter chooses: a move is saved at once. */}
      <div
        ref={list}
        role="radiogroup"
        aria-label="Stage"
        tabIndex={-1}
        onKeyDown={keys}
        className="flex flex-wrap gap-1"
      >
        {stages.map((stage, index) => {
          const isCurrent = stage.id === current
          const days = stage.kind === stageKinds.open ? daysOf(times?.get(stage.id)) : null
          const isPast = here?.kind === stageKinds.open && index < place
          return (
            // biome-ignore lint/a11y/useSemanticElements: a native radio would be chosen by the arrow keys
            <button
              key={stage.id}
              type="button"
              role="radio"
              aria-checked={isCurrent}
              aria-disabled={reason ? true : undefined}
              title={
                reason ?? (days === null ? undefined : `${format.counted(days, 'day', 'days')} in this stage`)
              }
              tabIndex={isCurrent || (place < 0 && index === 0) ? 0 : -1}
              onClick={() => void move(stage)}
              className={classes(
                'inline-flex min-h-8 max-w-full min-w-20 flex-auto items-center justify-center gap-1',
                'rounded-sm border px-2',
                isCurrent ? looks[stage.kind] : 'border-line bg-surface text-ink-soft hover:bg-hover',
                isCurrent && 'font-medium',
                isPast && 'border-transparent! bg-accent-soft! text-accent-strong!',
              )}
            >
              {(isPast || isCurrent) && <Check size={13} aria-hidden className="shrink-0" />}
              <bdi className="truncate">{stage.name}</bdi>
              {days !== null && (
                <span aria-hidden className="tabular shrink-0 text-sm font-normal whitespace-nowrap">
                  {format.number(days)} d
                </span>
              )}
            </button>
          )
        })}
      </div>
      {line}
    </div>
  )
}

/** Since when a deal is in its stage, and how likely that makes it. */
function StageLine(props: { since: string | null; here: Stage; isCompact: boolean }) {
  const { since, here, isCompact } = props
  const format = useFormat()
  const likely = here.kind === stageKinds.open && `, ${format.percent(here.probability)} likely`
  if (isCompact)
    return (
      <p className="text-sm text-ink-soft">
        <span className="unseen">Stage: </span>
        <bdi className="font-medium text-ink">{here.name}</bdi>
        {since && (
          <>
            {' since '}
            <time dateTime={since} title={format.fullMoment(since)}>
              {format.date(format.dateOf(since))}
            </time>
          </>
        )}
        {likely}
      </p>
    )
  if (!since) return null
  return (
    <p className="text-sm text-ink-faint">
      In {here.name} since <time dateTime={since}>{format.moment(since)}</time> ({format.ago(since)}){likely}
    </p>
  )
}

/** How far a deal has come, as a bar with a part for each open stage. */
function Steps({ stages, place }: { stages: readonly Stage[]; place: number }) {
  const here = stages[place]
  const open = stages.filter(({ kind }) => kind === stageKinds.open)
  const closed = here?.kind === stageKinds.won ? 'bg-won' : here?.kind === stageKinds.lost ? 'bg-lost' : null
  return (
    <div aria-hidden className="flex gap-1">
      {open.map(stage => {
        const isReached = stages.indexOf(stage) <= place
        return (
          <span
            key={stage.id}
            className={classes('h-1.5 grow rounded-full', closed ?? (isReached ? 'bg-accent' : 'bg-line'))}
          />
        )
      })}
    </div>
  )
}

/** Whole days; null for a stage that the deal was in for less than one. */
function daysOf(time = 0): number | null {
  const days = Math.floor(time / 86_400_000)
  return days > 0 ? days : null
}

/** 1 to 9 for the stages in order, w and x for the first won and lost one. */
function commandsOf(stages: readonly Stage[], move: (stage: Stage) => void): Command[] {
  const closed: Command[] = [
    { id: 'deal-won', title: 'Mark won', group: 'Deal', keys: 'w', kind: stageKinds.won },
    { id: 'deal-lost', title: 'Mark lost', group: 'Deal', keys: 'x', kind: stageKinds.lost },
  ].flatMap(({ kind, ...command }) => {
    const stage = stages.find(one => one.kind === kind)
    return stage ? [{ ...command, act: () => move(stage) }] : []
  })
  const numbered = stages.slice(0, 9).map((stage, index) => ({
    id: `deal-stage-${stage.id}`,
    title: `Move to ${stage.name}`,
    group: 'Deal',
    keys: `${index + 1}`,
    act: () => move(stage),
  }))
  return [...closed, ...numbered]
}

const looks = {
  [stageKinds.open]: 'border-accent bg-accent text-accent-ink',
  [stageKinds.won]: 'border-won bg-won text-surface',
  [stageKinds.lost]: 'border-lost bg-lost text-surface',
} as const
