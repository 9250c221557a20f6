/** Every page of the UI, with the parameters of its address: pages hold no state that a link would lose. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
} from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { UserError } from './api/api.ts'
import { fetchMe, fieldsQuery, meQuery, pipelinesQuery, queryClient } from './api/queries.ts'
import { Board } from './board/board.tsx'
import { boardQuery } from './board/board-query.ts'
import { listOfView } from './list/views.ts'
import { tables } from './records/tables.ts'
import { Failed, NotFound } from './shell/failed.tsx'
import { listen } from './shell/live.ts'
import { Shell } from './shell/shell.tsx'

/** The parameters of an address, as readable texts. */
type Search = Record<string, unknown>

function only<K extends string>(...names: K[]): (search: Search) => { readonly [name in K]?: string } {
  return search => {
    const found: { [name in K]?: string } = {}
    for (const name of names) if (search[name]) found[name] = String(search[name])
    return found
  }
}

/** A lazily loaded page. Offline it says so: the router would reload the whole UI, which would then fail. */
function lazyPage<T extends Record<K, () => ReactNode>, K extends string>(load: () => Promise<T>, name: K) {
  return lazyRouteComponent(async () => {
    try {
      return await load()
    } catch (error) {
      throw navigator.onLine ? error : new UserError('You are offline.')
    }
  }, name)
}

const root = createRootRoute({ notFoundComponent: NotFound })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: only('to'),
  component: lazyPage(() => import('./pages/sign-in.tsx'), 'SignIn'),
})

/** A page without the frame, for a signed-in user: a program asks for access (D170). */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ location }) => {
    if (!(await fetchMe())) throw redirect({ to: '/sign-in', search: { to: location.href } })
  },
  loader: () => queryClient.ensureQueryData(meQuery),
})

const connect = createRoute({
  getParentRoute: () => signedIn,
  path: '/connect',
  validateSearch: only(
    ...(['client_id', 'redirect_uri', 'response_type', 'code_challenge', 'code_challenge_method'] as const),
    ...(['state', 'scope', 'resource'] as const),
  ),
  component: lazyPage(() => import('./pages/connect.tsx'), 'Connect'),
})

/** Everything that requires a signed-in user. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: async ({ location }) => {
    // The board needs these to request its cards: they are loaded in parallel with the caller.
    if (location.pathname === '/' || location.pathname === '/board') {
      void queryClient.prefetchQuery(fieldsQuery('deal'))
      void queryClient.prefetchQuery(pipelinesQuery)
    }
    const me = await fetchMe()
    if (!me) throw redirect({ to: '/sign-in', search: { to: location.href } })
    // Before the page loads its data.
    if (me.follows_events) listen()
  },
  loader: () => queryClient.ensureQueryData(meQuery),
  component: Shell,
})

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/board', replace: true })
  },
})

const boardSearch = only('pipeline', 'filter', 'sort', 'closed', 'view', 'deal')

const board = createRoute({
  getParentRoute: () => shell,
  path: '/board',
  validateSearch: boardSearch,
  beforeLoad: async ({ search }) => {
    // Before the board is read: else that of all deals would be, and be seen first.
    const list = await listOfView('deal', 'board', search)
    if (list) throw redirect({ to: '/board', search: { ...search, ...list }, replace: true })
  },
  loaderDeps: ({ search: { pipeline, filter, sort, closed } }) => ({ pipeline, filter, sort, closed }),
  // Started here, before the page renders; the board awaits it.
  loader: ({ deps }) => void queryClient.prefetchQuery(boardQuery(deps)),
  component: Board,
})

const listParameters = ['filter', 'sort', 'columns', 'group', 'collapsed', 'view', 'deleted'] as const

const table = createRoute({
  getParentRoute: () => shell,
  path: '/$table',
  validateSearch: only(...listParameters),
  notFoundComponent: NotFound,
  beforeLoad: ({ params }) => {
    if (!Object.hasOwn(tables, params.table)) throw notFound()
  },
  component: lazyPage(() => import('./records/table/table-page.tsx'), 'TablePage'),
})

const record = createRoute({
  getParentRoute: () => shell,
  path: '/$table/$id',
  // Those of the list from which the record was opened: for next and previous, and for the way back.
  validateSearch: only('tab', ...listParameters),
  component: lazyPage(() => import('./records/record/record-page.tsx'), 'RecordPage'),
})

const today = createRoute({
  getParentRoute: () => shell,
  path: '/today',
  validateSearch: only('owner'),
  component: lazyPage(() => import('./pages/today.tsx'), 'Today'),
})

const calendar = createRoute({
  getParentRoute: () => shell,
  path: '/calendar',
  validateSearch: only('view', 'date', 'owner'),
  component: lazyPage(() => import('./calendar/calendar.tsx'), 'Calendar'),
})

const inbox = createRoute({
  getParentRoute: () => shell,
  path: '/inbox',
  validateSearch: only('kind', 'unread'),
  component: lazyPage(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
})

const forecast = createRoute({
  getParentRoute: () => shell,
  path: '/forecast',
  validateSearch: only(
    ...['pipeline', 'owner', 'filter', 'from', 'months', 'report'],
    ...['since', 'until', 'measure', 'view'],
  ),
  component: lazyPage(() => import('./pages/reports/reports-page.tsx'), 'Reports'),
})

const Work = lazyPage(() => import('./jobs/pages.tsx'), 'Pages')

const newImport = createRoute({
  getParentRoute: () => shell,
  path: '/import',
  validateSearch: only('resource'),
  component: Work,
})

const oneImport = createRoute({
  getParentRoute: () => shell,
  path: '/import/$id',
  validateSearch: only('step'),
  component: Work,
})

const jobs = createRoute({ getParentRoute: () => shell, path: '/jobs', component: Work })

const oneJob = createRoute({ getParentRoute: () => shell, path: '/jobs/$id', component: Work })

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: lazyPage(() => import('./settings/settings.tsx'), 'Settings'),
})

const settingsPage = createRoute({
  getParentRoute: () => settings,
  path: '/$page',
  validateSearch: only('id', 'source', 'new'),
  component: lazyPage(() => import('./settings/settings.tsx'), 'SettingsPage'),
})

/** The documentation, which needs no sign-in. */
const docs = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyPage(() => import('./docs/docs.tsx'), 'Docs'),
})

const docsPage = createRoute({ getParentRoute: () => docs, path: '$' })

const tree = root.addChildren([
  signIn,
  docs.addChildren([docsPage]),
  signedIn.addChildren([connect]),
  shell.addChildren([
    home,
    board,
    inbox,
    today,
    calendar,
    forecast,
    settings.addChildren([settingsPage]),
    newImport,
    oneImport,
    jobs,
    oneJob,
    table,
    record,
  ]),
])

export const router = createRouter({
  routeTree: tree,
  parseSearch: text => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: search => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given as [string, string][]).toString()
    return text ? `?${text}` : ''
  },
  // Each page has its own: an error in one leaves the shell.
  defaultErrorComponent: Failed,
  defaultPreload: 'intent',
  defaultPendingMs: 200,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
