/** The pages of the settings: their names, and the scope required to see them. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

/** A record that a settings page creates. `id`: its value of `?new=` (use-open-dialog.ts). */
type Creatable = {
  readonly resource: string
  readonly what: string
  readonly id?: string
  readonly words?: string
}

type SettingsPageInfo = {
  readonly id: string
  readonly title: string
  readonly group: 'You' | 'Account'
  /** null if it is public to all users */
  readonly scope: string | null
  /** synonyms for the search */
  readonly words: string
  readonly creates?: readonly Creatable[]
  readonly Page: LazyExoticComponent<ComponentType>
}

function load<Name extends string>(name: Name, get: () => Promise<{ [name in Name]: ComponentType }>) {
  return lazy(() => get().then(module => ({ default: module[name] })))
}

export const pages: readonly SettingsPageInfo[] = [
  {
    id: 'profile',
    title: 'Profile',
    group: 'You',
    scope: null,
    words: 'password language locale time zone theme dark light density keys shortcuts account preferences',
    Page: load('Profile', () => import('./account/profile.tsx')),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    group: 'You',
    scope: 'token:read',
    words: 'api key access integration',
    creates: [{ resource: 'token', what: 'token', words: 'api key' }],
    Page: load('Tokens', () => import('./access/tokens.tsx')),
  },
  {
    id: 'agents',
    title: 'Agents',
    group: 'You',
    scope: 'token:read',
    words: 'mcp assistant ai claude chatgpt cursor connect oauth stop undo',
    Page: load('Agents', () => import('./access/agents.tsx')),
  },
  {
    id: 'account',
    title: 'Account',
    group: 'Account',
    words: 'company name time zone language locale base currency',
    scope: 'admin',
    Page: load('Account', () => import('./account/account.tsx')),
  },
  {
    id: 'pipelines',
    title: 'Pipelines and stages',
    group: 'Account',
    scope: 'pipeline_stage:read',
    words: 'process funnel probability',
    creates: [
      { resource: 'pipeline', what: 'pipeline' },
      { resource: 'pipeline_stage', what: 'stage', id: 'stage' },
    ],
    Page: load('Pipelines', () => import('./pipelines/pipelines.tsx')),
  },
  {
    id: 'fields',
    title: 'Fields',
    group: 'Account',
    scope: 'field:read',
    words: 'custom dropdown options sections form required',
    creates: [{ resource: 'field', what: 'field', words: 'custom' }],
    Page: load('Fields', () => import('./fields/fields.tsx')),
  },
  {
    id: 'users',
    title: 'Users',
    group: 'Account',
    scope: 'user:read',
    words: 'people team members colleagues invite',
    creates: [{ resource: 'user', what: 'user', words: 'invite colleague member team' }],
    Page: load('Users', () => import('./access/users.tsx')),
  },
  {
    id: 'roles',
    title: 'Roles',
    group: 'Account',
    scope: 'role:read',
    words: 'permissions rights access visibility',
    creates: [{ resource: 'role', what: 'role', words: 'permissions' }],
    Page: load('Roles', () => import('./access/roles.tsx')),
  },
  {
    id: 'territories',
    title: 'Territories',
    group: 'Account',
    scope: 'territory:read',
    words: 'territory region area',
    creates: [{ resource: 'territory', what: 'territory' }],
    Page: load('Territories', () => import('./resource-settings.tsx')),
  },
  {
    id: 'tags',
    title: 'Tags',
    group: 'Account',
    scope: 'tag:read',
    words: 'labels',
    creates: [{ resource: 'tag', what: 'tag', words: 'label' }],
    Page: load('Tags', () => import('./resource-settings.tsx')),
  },
  {
    id: 'currencies',
    title: 'Currencies',
    group: 'Account',
    scope: 'currency:read',
    words: 'currency exchange rates money',
    creates: [{ resource: 'currency', what: 'currency rate', words: 'exchange' }],
    Page: load('Currencies', () => import('./account/currencies.tsx')),
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    group: 'Account',
    scope: 'webhook:read',
    words: 'events integration callback deliveries',
    creates: [{ resource: 'webhook', what: 'webhook', words: 'integration' }],
    Page: load('Webhooks', () => import('./webhooks/webhooks.tsx')),
  },
  {
    id: 'backup',
    title: 'Backup',
    group: 'Account',
    scope: 'admin',
    words: 'restore copy export data',
    Page: load('Backup', () => import('./account/backup.tsx')),
  },
]
