/**
 * What is open over a page of the settings. `new` in the address opens what is made there, for links and the
 * palette; `id` says what, where a page makes several things.
 */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

export function useOpenDialog<T>(asNew: T, id = '1'): [T | null, (next: T | null) => void] {
  const isAsked = (useSearch({ strict: false }) as { new?: string }).new === id
  const navigate = useNavigate()
  const [opened, setOpened] = useState<T | null>(null)
  const open = (next: T | null) => {
    setOpened(next)
    if (isAsked)
      void navigate({ to: '.', search: (before: object) => ({ ...before, new: undefined }), replace: true })
  }
  return [isAsked ? asNew : opened, open]
}
