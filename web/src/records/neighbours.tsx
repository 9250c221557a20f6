/** The record before and after this one, in the list that one came from. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useMemo } from 'react'
import { pageQuery } from '../api/queries.ts'
import { recordPath } from '../routes.tsx'
import { type Command, useCommands } from '../shell/commands.ts'
import { IconButton } from '../ui/button.tsx'

/** So many of a list are looked through. */
const most = 500

export function Neighbours({ resource, id }: { resource: string; id: number }) {
  const { filter, sort } = useSearch({ strict: false })
  const navigate = useNavigate()
  const asked = { ...(filter ? { filter } : {}), ...(sort ? { sort } : {}), fields: 'id' }
  const isAsked = filter !== undefined || sort !== undefined
  const { data } = useQuery({ ...pageQuery(resource, asked, 1, most), enabled: isAsked })
  const ids = data?.data.map(one => one.id) ?? []
  const place = ids.indexOf(id)
  const before = place > 0 ? ids[place - 1] : undefined
  const after = place >= 0 ? ids[place + 1] : undefined
  const commands = useMemo(() => {
    const go = (to: number | undefined) => () => {
      if (to !== undefined) void navigate({ to: recordPath(resource, to), search: { filter, sort } as never })
    }
    const list: Command[] = [
      { id: 'record-before', title: 'Previous record', group: 'Record', keys: '[', act: go(before) },
      { id: 'record-after', title: 'Next record', group: 'Record', keys: ']', act: go(after) },
    ]
    return list
  }, [navigate, resource, before, after, filter, sort])
  useCommands(commands)
  if (place < 0) return null
  return (
    <span className="flex items-center text-ink-faint">
      <IconButton label="Previous ([)" isDisabled={before === undefined} onPress={commands[0]!.act}>
        <ChevronLeft size={16} aria-hidden />
      </IconButton>
      <span className="tabular text-sm">
        {place + 1} of {data?.meta.total ?? ids.length}
      </span>
      <IconButton label="Next (])" isDisabled={after === undefined} onPress={commands[1]!.act}>
        <ChevronRight size={16} aria-hidden />
      </IconButton>
    </span>
  )
}
