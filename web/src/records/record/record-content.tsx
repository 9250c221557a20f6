/** A record: its facts, what is next, its fields, and its tabs. The same on a page and in a panel. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from 'react'
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components'
import { type About, aboutRecord, isSubject } from '../../activities/about.ts'
import { logCommands } from '../../activities/log-commands.ts'
import { stagesQuery } from '../../api/queries.ts'
import { stageKinds } from '../../api/stage-kind.ts'
import { type Command, useCommands } from '../../shell/commands.ts'
import { useLockedReason, useReadOnlyReason } from '../../shell/me.ts'
import { useNoteOpened } from '../../shell/recent-records.ts'
import { classes } from '../../ui/classes.ts'
import { freeBelow } from '../../ui/offsets.ts'
import { useMedia } from '../../ui/use-media.ts'
import { isEmpty, isWritable } from '../editing/draft.ts'
import { type Save, useRecordSave } from '../editing/use-record-save.tsx'
import { Timeline } from '../timeline/timeline.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { DealProducts, useProductsDraft } from './deal-products.tsx'
import { DealStage } from './deal-stage.tsx'
import { Headline } from './headline.tsx'
import { NextStrip } from './next-strip.tsx'
import { Overview } from './overview.tsx'
import { DeletedBanner } from './record-actions.tsx'
import { hasRelated, Related } from './related.tsx'
import type { ShownRecord } from './use-record.ts'

export function RecordContent(props: {
  shown: ShownRecord
  tab: string | undefined
  onTab: (tab: string) => void
  /** in a panel, which has the facts in its head, the fields have no room beside the tabs */
  isPanel?: boolean
}) {
  const { shown, tab, onTab, isPanel = false } = props
  const isNarrow = useMedia('(max-width: 1127px)')
  const isPhone = useMedia('(max-width: 899px)') && !isPanel
  // Without room beside the other tabs the fields are one of them: none is far below the others.
  const isOneColumn = isPanel || isNarrow
  const { resource, record } = shown
  const { save, dialogs } = useRecordSave(shown)
  const mayNot = useReadOnlyReason(resource)
  useNoteOpened({ resource, id: record.id })
  const reason = record.deleted_at ? 'This was deleted. Restore it to change it.' : mayNot
  const stageReason = useLockedReason(resource, 'pipeline_stage', reason)
  const place = useRecordCommands(shown, onTab)
  const isDeal = resource === 'deal'
  const { data: stages = [] } = useQuery({ ...stagesQuery, enabled: isDeal })
  const stageKind = stages.find(({ id }) => id === record.pipeline_stage)?.kind
  const overview = <Overview {...{ shown, save, reason }} isFramed={!isOneColumn} />
  return (
    <>
      <div ref={place} className={classes('flex flex-col gap-3', !isPanel && 'grow px-4 pb-6')}>
        {record.deleted_at && <DeletedBanner shown={shown} />}
        {!record.deleted_at && <MissingBanner shown={shown} />}
        {!isPanel && <Headline shown={shown} />}
        {isDeal && <DealStage {...{ shown, save }} reason={stageReason} isCompact={isPhone} />}
        <NextStrip shown={shown} isOpen={isDeal && stageKind === stageKinds.open} hasBar={isPhone} />
        <div className={isOneColumn ? '' : 'grid grid-cols-[minmax(340px,5fr)_6fr] gap-x-6'}>
          {!isOneColumn && overview}
          <RecordTabs {...{ shown, tab, onTab, save, reason }} overview={isOneColumn ? overview : null} />
        </div>
        {dialogs}
      </div>
      {isPhone && <BottomBar {...{ shown, save }} reason={stageReason} />}
    </>
  )
}

/** The timeline comes first: most of what is looked up is what happened last. */
function RecordTabs(props: {
  shown: ShownRecord
  tab: string | undefined
  onTab: (tab: string) => void
  save: Save
  reason: string | undefined
  /** null: it is shown beside the tabs */
  overview: ReactNode
}) {
  const { shown, tab, onTab, save, reason, overview } = props
  const { resource } = shown
  const isDeal = resource === 'deal'
  const hasOverview = overview !== null
  const products = useProductsDraft(shown)
  const tabs = useMemo(() => {
    const all: [string, string][] = [['timeline', 'Timeline']]
    if (hasOverview) all.push(['overview', 'Overview'])
    if (isDeal) all.push(['products', 'Products'])
    if (hasRelated(resource)) all.push(['related', 'Related'])
    return all
  }, [resource, isDeal, hasOverview])
  const selected = tabs.some(([id]) => id === tab) ? tab! : tabs[0]![0]
  const panels: { readonly [tab: string]: ReactNode } = {
    overview,
    timeline: <Timeline shown={shown} />,
    products: <DealProducts {...{ shown, save, reason }} kept={products} />,
    related: <Related shown={shown} />,
  }
  return (
    <Tabs
      selectedKey={selected}
      onSelectionChange={key => onTab(String(key))}
      className="min-w-0 self-start rounded-lg border border-line bg-surface"
    >
      <TabList
        ref={freeBelow}
        aria-label="About this record"
        className="sticky top-0 z-10 flex gap-1 rounded-t-lg border-b border-line bg-surface px-3"
      >
        {tabs.map(([id, label]) => (
          <Tab
            key={id}
            id={id}
            className="-mb-px cursor-pointer border-b-2 border-transparent px-2 py-2.5 text-ink-soft
              outline-offset-[-2px] data-hovered:text-ink data-selected:border-accent
              data-selected:font-medium data-selected:text-ink"
          >
            {label}
          </Tab>
        ))}
      </TabList>
      {tabs.map(([id]) => (
        <TabPanel key={id} id={id} className="p-4 outline-offset-[-2px] max-sm:p-3">
          {panels[id]}
        </TabPanel>
      ))}
    </Tabs>
  )
}

/**
 * The commands to edit the shown record, to take notes and to log what was done; the tab with the input is
 * opened first.
 */
function useRecordCommands(
  { resource, record }: ShownRecord,
  onTab: (tab: string) => void,
): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const open = useRef(onTab)
  const about = useRef<About | null>(null)
  useEffect(() => {
    open.current = onTab
    about.current = isSubject(resource) && !record.deleted_at ? aboutRecord(resource, record) : null
  })
  const mayLog = useReadOnlyReason('activity') === undefined && isSubject(resource)
  const commands = useMemo((): Command[] => {
    const find = (what: string) => place.current?.querySelector<HTMLElement>(what)
    const go = (tab: string, what: string, act: (found: HTMLElement) => void) => () => {
      const found = find(what)
      if (found) return act(found)
      open.current(tab)
      // The tab is drawn in one of the next frames.
      const look = (frames: number) =>
        requestAnimationFrame(() => {
          const opened = find(what)
          if (opened) act(opened)
          else if (frames > 0) look(frames - 1)
        })
      look(30)
    }
    const [group, within] = ['Record', () => place.current]
    const log = logCommands(
      group,
      () => about.current,
      kind => (kind === 'Call' ? 'l' : undefined),
    ).filter(({ id }) => id !== 'Record log Note')
    return [
      ...(mayLog ? log.map(command => ({ ...command, within })) : []),
      {
        id: 'record-edit',
        title: 'Edit the first field',
        group,
        keys: 'e',
        within,
        act: go('overview', 'details[open] [data-edit]', button => button.click()),
      },
      {
        id: 'record-note',
        title: 'Write a note',
        group,
        keys: 'n',
        within,
        act: go('timeline', '[data-note]', note => note.focus()),
      },
    ]
  }, [mayLog])
  useCommands(commands)
  return place
}

/** Fields that became required after the record was made: its next update must supply them (D6). */
function MissingBanner({ shown: { record, fields } }: { shown: ShownRecord }) {
  const missing = fields.filter(
    field => field.is_required && isWritable(field) && isEmpty(record[field.internal_name]),
  )
  if (missing.length === 0) return null
  const labels = missing.map(({ field_name }) => field_name).join(', ')
  return (
    <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
      {missing.length === 1 ? 'A required field is empty: ' : 'Required fields are empty: '}
      {labels}. The next change has to fill {missing.length === 1 ? 'it' : 'them'} in.
    </p>
  )
}
