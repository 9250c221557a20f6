/** A link to an import of the table's records (D80), for users with the right. */
import { useNavigate } from '@tanstack/react-router'
import { Upload } from 'lucide-react'
import { may, useMe } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'

export function ImportLink({ resource }: { resource: string }) {
  const me = useMe()
  const navigate = useNavigate()
  if (!may(me, 'import:write') || !may(me, `${resource}:write`)) return null
  return (
    <Button variant="quiet" isSmall onPress={() => void navigate({ to: '/import', search: { resource } })}>
      <Upload size={14} aria-hidden />
      Import
    </Button>
  )
}
