/** Writes of the settings: each is announced, and a refusal is shown. */
import { useState } from 'react'
import { allErrorMessages, errorMessage, problemsByField } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { afterPress } from '../ui/after-press.ts'
import { toast, toastError } from '../ui/toast.tsx'
import { useIsGone } from '../ui/use-latest.ts'
import { assignProblems, type Problems } from './assign-problems.ts'

/** Refetches everything: the configuration affects every page. */
export const refetchAll = () => queryClient.invalidateQueries()

/** Place → the last order that is to be saved there, and the end of those before it. */
const orders = new Map<string, { readonly order: object; readonly saved: Promise<boolean> }>()

/**
 * Saves orders of a place one after another: of several that wait, only the last is sent. True if this one
 * was; throws its refusal.
 */
export async function saveOrder(
  place: string,
  order: object,
  send: () => Promise<unknown>,
): Promise<boolean> {
  const before = orders.get(place)?.saved ?? Promise.resolve(true)
  const saved = before
    .catch(() => {})
    .then(async () => {
      if (orders.get(place)?.order !== order) return false
      await send()
      return orders.get(place)?.order === order
    })
  orders.set(place, { order, saved })
  return saved
}

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
