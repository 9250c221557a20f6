/** Marks activities done and not done. */
import type { AnyRecord } from '../../api/api.ts'
import { errorMessage } from '../../api/api.ts'
import { refresh } from '../../api/queries.ts'
import { nameOf } from '../../fields/references/find-records.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { update } from '../editing/draft.ts'
import { undoWrite } from '../editing/undo-write.ts'

/**
 * Marks an activity done, or not done; undoable. Resolves to null if it was not saved; `listed` resolves when
 * the lists have it in its new place.
 */
export async function setDone(
  activity: AnyRecord,
  isDone: boolean,
): Promise<{ listed: Promise<unknown> } | null> {
  try {
    const done_at = isDone ? new Date().toISOString() : null
    const after = await update('activity', activity, { done_at }, '')
    const listed = refreshAbout()
    toast(`${isDone ? 'Done' : 'Not done'}: “${nameOf(activity)}”.`, {
      action: {
        label: 'Undo',
        act: async () => {
          try {
            await undoWrite('activity', activity, after)
            void refreshAbout()
          } catch (error) {
            toastError(errorMessage(error))
          }
        },
      },
    })
    return { listed }
  } catch (error) {
    toastError(errorMessage(error))
    return null
  }
}

/** Deals count their activities (D73). */
export const refreshAbout = () => Promise.all([refresh('activity'), refresh('deal')])
