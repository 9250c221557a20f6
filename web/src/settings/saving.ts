/** Writes of the settings: each is announced, and a refusal is shown. */
import { useState } from 'react'
import { allErrorMessages, errorMessage, problemsByField } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { afterPress } from '../ui/after-press.ts'
import { toast, toastError } from '../ui/toast.tsx'
import { useIsGone } from '../ui/use-is-gone.ts'
import { assignProblems, type Problems } from './assign-problems.ts'

/** Refetches everything: the configuration affects every page. */
export const refetchAll = () => queryClient.invalidateQueries()

/** Carries out a write and announces it, or shows the refusal. True on success. */
export async function saveWithToast(
  act: () => Promise<unknown>,
  message: string,
  undo?: (() => Promise<unknown>) | undefined,
): Promise<boolean> {
  try {
    await act()
    toast(message, undo && { action: { label: 'Undo', act: () => void saveWithToast(undo, 'Undone') } })
    return true
  } catch (error) {
    toastError(errorMessage(error))
    return false
  } finally {
    await refetchAll()
  }
}

/**
 * The saving of a form: problems are assigned to its fields, the rest to ''. Once the form is closed, a
 * message says them.
 */
export function useSaving(fields: readonly string[]) {
  const [problems, setProblems] = useState<Problems>({})
  const [isBusy, setBusy] = useState(false)
  const isGone = useIsGone()
  const save = async (act: () => Promise<unknown>, message: string | null): Promise<boolean> => {
    setBusy(true)
    setProblems({})
    try {
      await act()
      if (message) toast(message)
      void refetchAll()
      return true
    } catch (error) {
      if (isGone.current) toastError(`Not saved: ${allErrorMessages(error)}`)
      const found = assignProblems(problemsByField(error), fields)
      // A box that saves when it is left may lie above the button that is pressed.
      afterPress(() => setProblems(found))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { problems, isBusy, save, setProblems }
}
