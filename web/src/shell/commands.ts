/**
 * The one registry of commands, for the key handler, the palette and the key sheet. A component's commands
 * are registered while it is shown; the last registered come first.
 */
import { useLayoutEffect } from 'react'
import { createStore } from '../ui/store.ts'
import { preferences } from './preferences.ts'

export type Command = {
  /** unique name */
  readonly id: string
  readonly title: string
  /** the heading under which palette and sheet show it */
  readonly group: string
  /** synonyms for the search */
  readonly words?: string
  /** "c", "g b" (one after the other), "mod+k" (Ctrl, or ⌘ on a Mac), "j / k" (either) */
  readonly keys?: string
  /** absent if a component handles the keys itself: then only the key sheet lists them */
  readonly act?: () => void
  /** True if the palette omits it, such as a movement of the focus */
  readonly isHidden?: boolean
  /** its subject: within an open dialog it acts, too */
  readonly within?: () => Element | null
}

/** Synonyms of creating. */
export const createWords = 'create add make'
/** Synonyms of logging what was done. */
export const logWords = 'record track activity done phone conversation'

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
 * Registers commands while the component is shown: from its rendering on, so that no key comes too soon.
 * `list` must be the same array until they change.
 */
export function useCommands(list: readonly Command[]): void {
  useLayoutEffect(() => {
    registered.set([...list, ...registered.get()])
    return () => registered.set(registered.get().filter(command => !list.includes(command)))
  }, [list])
}

/** Commands that are not of the page behind a dialog: some dialogs save at once, which can be undone. */
const aboveDialogs: readonly string[] = ['palette', 'undo']
const isMac = /mac|iphone|ipad/i.test(navigator.platform)
const sequenceMs = 1000
let before: { key: string; at: number } | null = null

/** The keys of an event in the notation of commands. */
function keysOf(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey
  // A key of another script, such as л, is the letter of its place; some layouts have no other.
  const letter = /^Key([A-Z])$/.exec(event.code)?.[1]
  const typed = letter && /^[^\x20-\x7f]$/u.test(event.key) ? letter : event.key
  const key = typed.length === 1 ? typed.toLowerCase() : typed
  // With a letter or sign alone, Shift is part of it, such as "?".
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
 * Runs the command of a key. While the user types, keys belong to the text, including its own undo, except
 * the palette's. While a dialog is open, only the keys within it and those above dialogs act.
 */
export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return
  const keys = keysOf(event)
  const isPlain = !keys.includes('mod+') && !keys.includes('alt+')
  if (isPlain && (isWriting(event.target) || !preferences().singleKeys)) return
  const dialogs = [...document.querySelectorAll('[role="dialog"], [role="alertdialog"]')]
  const isOver = ({ id, within }: Command) => {
    const place = within?.() ?? null
    return aboveDialogs.includes(id) || dialogs.every(dialog => dialog.contains(place))
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

/** Keys in words; "/" separates alternatives. */
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
