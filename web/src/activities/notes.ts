/** Notes about a record: the unsaved ones, and how one is saved, alone or after the closing of a deal. */
import { type AnyRecord, callApi, errorMessage } from '../api/api.ts'
import { type Attempt, attemptOf } from '../api/attempt.ts'
import { nameOf } from '../fields/references/find-records.ts'
import { remove } from '../records/editing/write.ts'
import { refreshAbout } from '../records/timeline/activities.ts'
import { openLog } from '../shell/log-activity.tsx'
import { whoIsSignedIn } from '../shell/me.ts'
import { createStore } from '../ui/store.ts'
import { toast, toastError } from '../ui/toast.tsx'
import { type About, aboutRecord, idsOf, mainOf } from './about.ts'
import { subjectOf } from './log.ts'
import { plainText, storedText } from './mentions.ts'

/**
 * "1 7 deal/12", the account, the user and the record → its unsaved note, which survives a change of tab or
 * page, a closed dialog and a refusal.
 */
const unsaved = createStore<{ readonly [place: string]: string }>({})

function placeOf(about: About): string {
  const main = mainOf(about)
  return `${whoIsSignedIn()} ${main}/${main && about[main]?.id}`
}

/** The unsaved note of a record, as state. */
export function useUnsavedNote(about: About) {
  const note = unsaved.use()[placeOf(about)] ?? ''
  const keep = (text: string) => {
    // Another text is another note, also if it becomes the same again.
    attempts.delete(placeOf(about))
    keepNote(about, text)
  }
  return [note, keep] as const
}

function keepNote(about: About, text: string): void {
  const { [placeOf(about)]: _before, ...others } = unsaved.get()
  unsaved.set(text === '' ? others : { ...others, [placeOf(about)]: text })
  const isAny = Object.values(unsaved.get()).some(note => note.trim() !== '')
  if (isAny) addEventListener('beforeunload', ask)
  else removeEventListener('beforeunload', ask)
}

/** Notes survive a change of page, but no reload. */
const ask = (event: Event) => event.preventDefault()

/** Place → the request of its unsaved note. */
const attempts = new Map<string, Attempt>()

/** Saves a note; its first line is the subject. Throws the service's refusal. */
export async function addNote(about: About, text: string): Promise<AnyRecord> {
  const stored = storedText(text.trim())
  const subject = subjectOf(plainText(stored))
  const notes = stored === subject ? null : stored
  const body = { kind: 'Note', subject, notes, ...idsOf(about) }
  const place = placeOf(about)
  const attempt = attemptOf(attempts.get(place) ?? null, JSON.stringify(body))
  attempts.set(place, attempt)
  const headers = { 'idempotency-key': attempt.key }
  const saved = await callApi<AnyRecord>('POST', '/activity', { body, headers })
  attempts.delete(place)
  // A text that was typed meanwhile stays.
  if (unsaved.get()[place] === text) keepNote(about, '')
  void refreshAbout()
  return saved
}

/** Removes a note that was added with a closing; for its Undo. */
export type RemoveNote = () => Promise<unknown>

/**
 * Saves the note of a deal that was closed just now: the service has no request that writes both. If that
 * fails, the note stays unsaved, and a message opens it. Never rejects.
 */
export async function addClosingNote(deal: AnyRecord, text: string): Promise<RemoveNote> {
  const about = aboutRecord('deal', deal)
  if (text.trim() === '') return async () => {}
  try {
    const note = await addNote(about, text)
    return () => remove('activity', note).then(refreshAbout)
  } catch (error) {
    keepNote(about, text)
    toastError(`${nameOf(deal)} is closed, but the note is not saved. ${errorMessage(error)}`, {
      label: 'Open the note',
      act: () =>
        openLog('Note', about, {
          text,
          // With the key of the request whose answer may be lost: the note is there once.
          addNote: async typed => {
            await addNote(about, typed)
            toast('Note added.')
          },
          onLogged: () => keepNote(about, ''),
        }),
    })
    return async () => {}
  }
}
