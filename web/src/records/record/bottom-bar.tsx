/** The bar at the foot of a record's page on a phone: log, next step, move, call. */
import { useQuery } from '@tanstack/react-query'
import { CalendarPlus, MoveRight, Phone, SquarePen } from 'lucide-react'
import type { ReactNode } from 'react'
import { aboutRecord, isSubject } from '../../activities/about.ts'
import { errorMessage } from '../../api/api.ts'
import { stagesQuery } from '../../api/queries.ts'
import { closingWord } from '../../api/stage-kind.ts'
import { phoneHref } from '../../fields/kinds/phone.tsx'
import { openLog, openPlan } from '../../shell/log-activity.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Menu } from '../../ui/menu.tsx'
import { offsetFoot } from '../../ui/offsets.ts'
import { toastError } from '../../ui/toast.tsx'
import type { Save } from '../editing/use-record-save.tsx'
import { type Channels, useChannels } from './channels.tsx'
import type { ShownRecord } from './use-record.ts'

const look = 'min-h-12! grow basis-0 flex-col gap-0! rounded-none! px-1! text-xs leading-4'

export function BottomBar(props: { shown: ShownRecord; save: Save; reason: string | undefined }) {
  const { shown, save, reason } = props
  const { resource, record } = shown
  const mayNot = useReadOnlyReason('activity')
  const channels = useChannels(resource, record)
  if (!isSubject(resource) || record.deleted_at) return null
  const about = aboutRecord(resource, record)
  return (
    <section
      ref={offsetFoot}
      aria-label="Actions"
      className="sticky bottom-0 z-20 mt-auto flex border-t border-line bg-canvas
        pb-[env(safe-area-inset-bottom)]"
    >
      <Button variant="quiet" className={look} reason={mayNot} onPress={() => openLog('Call', about)}>
        <SquarePen size={18} aria-hidden /> Log
      </Button>
      <Button variant="quiet" className={look} reason={mayNot} onPress={() => openPlan(about)}>
        <CalendarPlus size={18} aria-hidden /> Next step
      </Button>
      {resource === 'deal' && <MoveMenu {...{ shown, save, reason }} />}
      <CallLink channels={channels}>
        <Phone size={18} aria-hidden /> Call
      </CallLink>
    </section>
  )
}

function CallLink({ channels, children }: { channels: Channels; children: ReactNode }) {
  const [number] = channels.phones
  if (!number)
    return (
      <Button variant="quiet" className={look} reason={channels.unread ?? 'No telephone number is known.'}>
        {children}
      </Button>
    )
  return (
    <a
      href={phoneHref(number)}
      className={classes(look, 'inline-flex items-center justify-center text-ink-soft hover:bg-hover')}
    >
      {children}
      <span className="unseen">{number}</span>
    </a>
  )
}

function MoveMenu({ shown, save, reason }: { shown: ShownRecord; save: Save; reason: string | undefined }) {
  const { record } = shown
  const { data: stages = [], isPending } = useQuery(stagesQuery)
  const entries = stages
    .filter(({ pipeline }) => pipeline === record.pipeline)
    .map(stage => ({
      id: String(stage.id),
      label: stage.name,
      detail: closingWord(stage.kind),
      isChecked: stage.id === record.pipeline_stage,
      isDisabled: stage.id === record.pipeline_stage,
      act: () => {
        const moved = save(record, { pipeline_stage: stage.id }, `Moved to ${stage.name}.`)
        moved.catch(error => toastError(errorMessage(error)))
      },
    }))
  const button = (
    <Button variant="quiet" className={look} reason={isPending ? 'The stages are loading.' : reason}>
      <MoveRight size={18} aria-hidden /> Move
    </Button>
  )
  // There from the beginning: the buttons beside it stay where they are.
  if (isPending || reason) return button
  if (stages.length === 0) return null
  return (
    <Menu label="Move to" groups={[{ title: 'Stages', entries }]}>
      {button}
    </Menu>
  )
}
