/** The frame of the settings: the menu of its pages at the side, on phones as a list, and the chosen page. */
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { Suspense } from 'react'
import { may, useMe } from '../shell/me.ts'
import { classes, navLink } from '../ui/classes.ts'
import { EmptyState, Skeleton } from '../ui/elements.tsx'
import { Select } from '../ui/inputs.tsx'
import { PageBody, PageHead } from '../ui/page.tsx'
import { pages } from './pages.ts'

const groups = ['You', 'Account'] as const
const first = pages[0]!.id

const usePage = () => (useParams({ strict: false }) as { page?: string }).page

export function Settings() {
  const requested = usePage()
  return (
    <div className="flex min-h-0 min-w-0 grow max-md:flex-col">
      <PageList current={requested ?? first} />
      <main className="min-h-0 min-w-0 grow overflow-auto">{requested ? <Outlet /> : <SettingsPage />}</main>
    </div>
  )
}

function PageList({ current }: { current: string }) {
  const me = useMe()
  const navigate = useNavigate()
  const mayNot = (scope: string | null) => scope !== null && !may(me, scope)
  return (
    <>
      <nav aria-label="Settings, as a list" className="border-b border-line px-4 py-2 md:hidden">
        <Select
          label="Page of the settings"
          isLabelHidden
          value={current}
          onChange={page => page && void navigate({ to: '/settings/$page', params: { page } })}
          choices={pages.map(({ id, title, scope }) => ({
            id,
            name: mayNot(scope) ? `${title} (no access)` : title,
          }))}
        />
      </nav>
      <nav
        aria-label="Settings"
        className="flex w-[190px] shrink-0 flex-col overflow-auto border-r border-line p-2 max-md:hidden"
      >
        {groups.map(group => (
          <section key={group} aria-labelledby={`settings-${group}`}>
            <h2 id={`settings-${group}`} className="px-2.5 pt-3 pb-1 text-xs font-medium text-ink-faint">
              {group}
            </h2>
            <ul>
              {pages
                .filter(page => page.group === group)
                .map(({ id, title, scope }) => (
                  <li key={id}>
                    <Link
                      to="/settings/$page"
                      params={{ page: id }}
                      aria-current={id === current ? 'page' : undefined}
                      className={classes(navLink, 'gap-2')}
                    >
                      <span className="min-w-0 grow truncate">{title}</span>
                      {mayNot(scope) && (
                        <>
                          <Lock size={12} aria-hidden />
                          <span className="unseen">no access</span>
                        </>
                      )}
                    </Link>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  )
}

export function SettingsPage() {
  const me = useMe()
  const requested = usePage() ?? first
  const page = pages.find(({ id }) => id === requested)
  if (!page)
    return (
      <>
        <PageHead title="Settings" />
        <EmptyState title="The settings have no such page.">
          <Link to="/settings" className="linked">
            Go to your profile
          </Link>
        </EmptyState>
      </>
    )
  const { title, scope, Page } = page
  if (scope !== null && !may(me, scope))
    return (
      <>
        <PageHead title={title} />
        <EmptyState
          title={`Your role may not see this page (it lacks ${scope}). An administrator can change that.`}
        />
      </>
    )
  return (
    <Suspense fallback={<PageSkeleton title={title} />}>
      <Page key={requested} />
    </Suspense>
  )
}

function PageSkeleton({ title }: { title: string }) {
  return (
    <>
      <PageHead title={title} />
      <PageBody>
        <Skeleton className="mb-3 h-4 w-72" />
        <Skeleton className="h-40 w-full" />
      </PageBody>
    </>
  )
}
