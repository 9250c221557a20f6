/**
 * The one registry of what can be done: the key handler, the palette and the sheet of keys all read it. A
 * component's commands are there as long as it is shown; what was registered last comes first.
 */
import { useLayoutEffect } from 'react'
import { createStore } from '../ui/store.ts'
import { preferences } from './preferences.ts'

export type Command = {
  /** names it, once */
  readonly id: string
  readonly title: string
  /** the heading under which palette and sheet show it */
  readonly group: string
  /** by what else people look for it */
  readonly words?: string
  /** "c", "g b" (one after the other), "mod+k" (Ctrl, or ⌘ on a Mac), "j / k" (either) */
  readonly keys?: string
  /** absent if a component handles the keys itself: then only the key sheet lists them */
  readonly act?: () => void
  /** whether it stands in the palette; a movement of the focus does not */
  readonly isHidden?: boolean
  /** what it is about: in an open dialog it acts too */
  readonly within?: () => Element | null
}

/** How else people say that they want something new. */
export const createWords = 'create add make'

/** Keys that a component handles itself, for the key sheet: a title, and the keys. */
export function keyHints(
  group: string,
  keys: readonly (readonly [title: string, keys: string])[],
): Command[] {
  return keys.map(([title, keys]) => ({ id: `${group} ${keys}`, title, group, keys }))
}

const registered = createStore<readonly Command[]>([])
export const useRegistered = registered.use

/**
 * Registers commands as long as the component is shown: from when it is drawn, so that no key comes too soon.
 * `list` must be the same array until they change.
 */
export function useCommands(list: readonly Command[]): void {
  useLayoutEffect(() => {
    registered.set([...list, ...registered.get()])
    return () => registered.set(registered.get().filter(command => !list.includes(command)))
  }, [list])
}

const isMac = /mac|iphone|ipad/i.test(navigator.platform)
const sequenceMs = 1000
let before: { key: string; at: number } | null = null

/** The keys of an event as commands write them. */
function keysOf(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  // Of a letter or sign alone, Shift is a part of what it is, such as "?".
  const shift = event.shiftKey && (mod || event.key.length > 1)
  return [mod && 'mod', event.altKey && 'alt', shift && 'shift', key].filter(Boolean).join('+')
}

const writable = [
  'input:not([type="checkbox"], [type="radio"])',
  'textarea',
  'select',
  '[contenteditable="true"]',
  '[role="menu"]',
  '[role="listbox"]',
].join()

function isWriting(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null
  return element?.closest?.(writable) != null
}

/**
 * Carries out the command of a key. While somebody writes, the keys are those of the text, its own undo among
 * them, apart from the palette's. Over an open dialog only the keys of what stands in it act besides.
 */
export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const keys = keysOf(event)
  const isPlain = !keys.includes('mod+') && !keys.includes('alt+')
  if (isPlain && (isWriting(event.target) || !preferences().singleKeys)) return
  const dialogs = [...document.querySelectorAll('[role="dialog"], [role="alertdialog"]')]
  const isOver = ({ id, within }: Command) => {
    const place = within?.() ?? null
    return id === 'palette' || dialogs.every(dialog => dialog.contains(place))
  }
  const sequence = before && event.timeStamp - before.at < sequenceMs ? `${before.key} ${keys}` : null
  const find = (wanted: string) =>
    registered.get().find(command => command.act && command.keys === wanted && isOver(command))
  const command = (sequence && find(sequence)) || find(keys)
  before = !command && isPlain ? { key: keys, at: event.timeStamp } : null
  if (!command) return
  if (isWriting(event.target) && command.id !== 'palette') return
  event.preventDefault()
  command.act?.()
}

/** Keys as people read them; "/" stands between those that do the same. */
export function keyLabels(keys: string): string[] {
  const names: { [key: string]: string } = {
    mod: isMac ? '⌘' : 'Ctrl',
    alt: isMac ? '⌥' : 'Alt',
    shift: 'Shift',
    ArrowLeft: '←',
    ArrowRight: '→',
    ArrowUp: '↑',
    ArrowDown: '↓',
    Escape: 'Esc',
    PageUp: 'Page up',
    PageDown: 'Page down',
  }
  const label = (key: string) => names[key] ?? (key.length === 1 ? key.toUpperCase() : key)
  return keys.split(/[ +]/).map(label)
}
