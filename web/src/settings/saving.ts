/** Writes of the settings: each is announced, and a refused one says why. */
import { useState } from 'react'
import { problemsByField, sayError } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { toast, toastError } from '../ui/toast.tsx'
import { type Problems, placed } from './placed.ts'

/** What is configured is seen on every page: what is shown is read again, the rest when it is. */
export const readAgain = () => queryClient.invalidateQueries()

/** Carries out a write and says what it did, or why it was refused. True where it was carried out. */
export async function attempt(
  act: () => Promise<unknown>,
  said: string,
  undo?: (() => Promise<unknown>) | undefined,
): Promise<boolean> {
  try {
    await act()
    toast(said, undo && { action: { label: 'Undo', act: () => void attempt(undo, 'Undone') } })
    return true
  } catch (error) {
    toastError(sayError(error))
    return false
  } finally {
    await readAgain()
  }
}

/** The saving of a form: what is wrong stands at its fields, what belongs to none of them under ''. */
export function useSaving(fields: readonly string[]) {
  const [problems, setProblems] = useState<Problems>({})
  const [isBusy, setBusy] = useState(false)
  const save = async (act: () => Promise<unknown>, said: string | null): Promise<boolean> => {
    setBusy(true)
    setProblems({})
    try {
      await act()
      if (said) toast(said)
      void readAgain()
      return true
    } catch (error) {
      setProblems(placed(problemsByField(error), fields))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { problems, isBusy, save, setProblems }
}
