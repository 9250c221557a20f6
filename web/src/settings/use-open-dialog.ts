/**
 * The open dialog over a page of the settings. `new` in the address opens the dialog of a new record, for
 * links and the palette; `id` chooses between several.
 */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

export function useOpenDialog<T>(asNew: T, id = '1'): [T | null, (next: T | null) => void] {
  const isAsked = (useSearch({ strict: false }) as { new?: string }).new === id
  const navigate = useNavigate()
  const [opened, setOpened] = useState<T | null>(null)
  const open = (next: T | null) => {
    setOpened(next)
    if (!isAsked) return
    const search = (before: object) => ({ ...before, new: undefined })
    // The dialog has asked already, or its form is saved.
    void navigate({ to: '.', search, replace: true, ignoreBlocker: true })
  }
  return [isAsked ? asNew : opened, open]
}
