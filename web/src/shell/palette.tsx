/** The palette: commands, pages, and the records that a text finds, or that were opened last. */
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
  useFilter,
} from 'react-aria-components'
import { useFormat } from '../format/use-format.tsx'
import { recordPath } from '../records/tables.ts'
import { classes, underlay } from '../ui/classes.ts'
import { Badge, Key } from '../ui/elements.tsx'
import { type Command, keyLabels, useRegistered } from './commands.ts'
import { may, useMe } from './me.ts'
import { openNew } from './new-record.tsx'
import { useRecentRecords } from './recent-records.ts'
import type { SearchHit } from './record-details.ts'
import { useRecordSearch } from './record-search.ts'

/** The shared groups, in this order; those of the page itself come first. */
const groupsBelow = ['New', 'Go to', 'Settings', 'Import', 'Everywhere']
const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean)

type Group = readonly [title: string, commands: readonly Command[]]

/**
 * The commands that match a text, in their groups. Each word must begin a word of the command; titles that
 * begin with the whole text come first, matches by synonyms last. Without text all match.
 */
function fitting(commands: readonly Command[], text: string, startsWith: Begins): readonly Group[] {
  const wanted = wordsOf(text)
  const has = (words: string) => wanted.every(begin => wordsOf(words).some(word => startsWith(word, begin)))
  const place = (group: string) => groupsBelow.indexOf(group)
  const none = 3
  const rankOf = ({ title, group, words = '' }: Command) => {
    if (startsWith(title, text.trim())) return 0
    if (has(title)) return 1
    return has(`${title} ${words} ${place(group) < 0 ? '' : group}`) ? 2 : none
  }
  // Of the shared commands, those with a key are wanted most.
  const lateness = ({ group, keys }: Command) => (place(group) >= 0 && !keys ? 1 : 0)
  const ranked = commands
    .map(command => ({ command, rank: rankOf(command) }))
    .filter(({ rank }) => rank < none)
    .sort((one, other) => one.rank - other.rank || lateness(one.command) - lateness(other.command))
  return [...Map.groupBy(ranked, ({ command }) => command.group)]
    .sort(([one, [first]], [other, [second]]) => first!.rank - second!.rank || place(one) - place(other))
    .map(([group, list]) => [group, list.map(({ command }) => command)] as const)
}

type Begins = ReturnType<typeof useFilter>['startsWith']

export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const found = useRecordSearch(text)
  const { startsWith } = useFilter({ sensitivity: 'base' })
  const shown = useRegistered().filter(({ isHidden, act }) => act && !isHidden)
  const recent = useRecentRecords()
  const groups = fitting(shown, text, startsWith)
  // Without a text, the records of last time come right after the commands of what is open.
  const isOwn = ([group]: Group) => text.trim() === '' && !groupsBelow.includes(group)
  const mayMake = may(useMe(), 'deal:write') && text.trim().length >= 2
  const run = (act: () => void) => {
    onClose()
    // After the palette has closed, so that the opened element gets the focus.
    setTimeout(act)
  }
  const commandsOf = ([group, list]: Group) => (
    <MenuSection key={group} aria-label={group}>
      <GroupHead>{group}</GroupHead>
      {list.map(command => (
        <CommandEntry key={command.id} command={command} onRun={() => run(command.act!)} />
      ))}
    </MenuSection>
  )
  const recordsOf = (group: string, hits: readonly SearchHit[]) =>
    hits.length > 0 && (
      <MenuSection aria-label={group}>
        <GroupHead>{group}</GroupHead>
        {hits.map(hit => (
          <RecordEntry
            key={`${hit.resource}${hit.id}`}
            hit={hit}
            onRun={() => run(() => void navigate({ to: recordPath(hit.resource, hit.id) }))}
          />
        ))}
      </MenuSection>
    )
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={onClose}
      className={classes(underlay, 'items-start justify-center p-4 pt-[12vh] max-sm:p-2')}
    >
      <Modal className="floating w-full max-w-[560px] overflow-hidden rounded-lg bg-raised shadow-float">
        <Dialog aria-label="Search and commands" className="max-h-[70vh] overflow-auto outline-none">
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField
              aria-label="Search or type a command"
              autoFocus
              className="sticky top-0 z-10 border-b border-line bg-raised"
              onKeyDown={event => {
                if (event.key === 'Escape' && text === '') onClose()
                else event.continuePropagation()
              }}
            >
              <Input
                placeholder="Search deals, people, products, commands…"
                className="w-full bg-transparent px-4 py-3 text-lg outline-none [&::-webkit-search-cancel-button]:hidden"
              />
            </SearchField>
            <Menu
              aria-label="Results"
              className="p-1.5 outline-none"
              renderEmptyState={() => <p className="px-3 py-6 text-center text-ink-soft">Nothing found.</p>}
            >
              {groups.filter(isOwn).map(commandsOf)}
              {text.trim() === '' && recordsOf('Recent', recent)}
              {groups.filter(group => !isOwn(group)).map(commandsOf)}
              {recordsOf('Records', found)}
              {mayMake && (
                <MenuSection aria-label="Create">
                  <Entry
                    id="create"
                    text={text}
                    onAction={() => run(() => openNew('deal', { title: text.trim() }))}
                  >
                    Create deal “{text.trim()}”
                  </Entry>
                </MenuSection>
              )}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function GroupHead({ children }: { children: string }) {
  return <Header className="px-3 pt-2 pb-1 text-xs font-medium text-ink-faint">{children}</Header>
}

function CommandEntry({ command, onRun }: { command: Command; onRun: () => void }) {
  return (
    <Entry id={command.id} text={command.title} onAction={onRun}>
      <span className="grow">{command.title}</span>
      {command.keys && keyLabels(command.keys).map(key => <Key key={key}>{key}</Key>)}
    </Entry>
  )
}

function RecordEntry({ hit, onRun }: { hit: SearchHit; onRun: () => void }) {
  const { resource, id, name, detail, value } = hit
  const format = useFormat()
  return (
    <Entry id={`${resource}${id}`} text={name} onAction={onRun}>
      <span className="min-w-0 truncate">{name}</span>
      <span className="min-w-0 grow truncate text-ink-faint">{detail}</span>
      {value && <span className="shrink-0 tabular-nums">{format.money(value)}</span>}
      <Badge>{resource}</Badge>
    </Entry>
  )
}

function Entry(props: { id: string; text: string; onAction: () => void; children: React.ReactNode }) {
  const { id, text, onAction, children } = props
  return (
    <MenuItem
      id={id}
      textValue={text}
      onAction={onAction}
      className="flex min-h-9 scroll-mt-16 items-center gap-2 rounded-sm px-3 outline-none
        data-focused:bg-accent-soft"
    >
      {children}
    </MenuItem>
  )
}
