/** The commands that are not in the navigation: each page of the settings, all new records. */
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { importable } from '../imports/import.ts'
import { manyOf } from '../jobs/job.ts'
import { tables } from '../records/tables.ts'
import { pages } from '../settings/pages.ts'
import { type Command, createWords, useCommands } from './commands.ts'
import { may, useMe } from './me.ts'
import { openNew } from './new-record.tsx'

type Navigate = ReturnType<typeof useNavigate>
type May = (scope: string) => boolean

export function usePaletteCommands(): void {
  const me = useMe()
  const navigate = useNavigate()
  const commands = useMemo(() => {
    const mayDo = (scope: string) => may(me, scope)
    return [...newRecords(mayDo), ...farPages(navigate, mayDo), ...settings(navigate, mayDo)]
  }, [me, navigate])
  useCommands(commands)
}

/** New records; a new deal has a key, and is registered from the beginning. */
function newRecords(mayDo: May): Command[] {
  const words: { readonly [resource: string]: string } = {
    contact: 'person customer',
    company: 'organization customer',
    activity: 'task call meeting e-mail email note to-do',
  }
  return Object.values(tables)
    .filter(({ resource }) => resource !== 'deal' && mayDo(`${resource}:write`))
    .map(({ resource, one }) => ({
      id: `new ${resource}`,
      title: `New ${one}`,
      group: 'New',
      words: `${createWords} ${words[resource] ?? ''}`,
      act: () => openNew(resource),
    }))
}

function farPages(navigate: Navigate, mayDo: May): Command[] {
  const activities: Command = {
    id: 'activities',
    title: 'Activities',
    group: 'Go to',
    words: 'activity tasks calls meetings notes e-mails',
    act: () => void navigate({ to: '/$table', params: { table: 'activities' } }),
  }
  const jobs: Command = {
    id: 'jobs',
    title: 'Jobs',
    group: 'Go to',
    words: 'bulk changes imports undo history background',
    act: () => void navigate({ to: '/jobs' }),
  }
  const docs: Command = {
    id: 'docs',
    title: 'Documentation',
    group: 'Go to',
    words: 'docs help api guides reference errors openapi developers',
    act: () => void navigate({ to: '/docs' }),
  }
  const imports = importable
    .filter(resource => mayDo('import:write') && mayDo(`${resource}:write`))
    .map(resource => ({
      id: `import ${resource}`,
      title: `Import ${manyOf(resource)}`,
      group: 'Import',
      words: 'new upload csv excel file',
      act: () => void navigate({ to: '/import', search: { resource } }),
    }))
  return [
    ...(mayDo('activity:read') ? [activities] : []),
    ...(mayDo('job:read') ? [jobs] : []),
    docs,
    ...imports,
  ]
}

function settings(navigate: Navigate, mayDo: May): Command[] {
  const go = (page: string, id?: string) =>
    void navigate({ to: '/settings/$page', params: { page }, search: id ? { new: id } : {} })
  return pages
    .filter(({ scope }) => scope === null || mayDo(scope))
    .flatMap(({ id: page, title, words, creates = [] }): Command[] => [
      {
        id: `settings ${page}`,
        title,
        group: 'Settings',
        words,
        act: () => go(page),
      },
      ...creates
        .filter(({ resource }) => mayDo(`${resource}:write`))
        .map(({ what, id = '1', words = '' }) => ({
          id: `new ${what}`,
          title: `New ${what}`,
          group: 'New',
          words: `${createWords} ${words}`,
          act: () => go(page, id),
        })),
    ])
}
