/** The pages of the settings: their names, and the right that it takes to see them. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'

export type SettingsPageInfo = {
  readonly id: string
  readonly title: string
  readonly group: 'You' | 'Account'
  /** null where everybody may */
  readonly scope: string | null
  readonly Page: LazyExoticComponent<ComponentType>
}

const load = <Name extends string>(name: Name, get: () => Promise<{ [name in Name]: ComponentType }>) =>
  lazy(() => get().then(module => ({ default: module[name] })))

export const pages: readonly SettingsPageInfo[] = [
  {
    id: 'profile',
    title: 'Profile',
    group: 'You',
    scope: null,
    Page: load('Profile', () => import('./profile.tsx')),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    group: 'You',
    scope: 'token:read',
    Page: load('Tokens', () => import('./tokens.tsx')),
  },
  {
    id: 'pipelines',
    title: 'Pipelines and stages',
    group: 'Account',
    scope: 'pipeline_stage:read',
    Page: load('Pipelines', () => import('./pipelines.tsx')),
  },
  {
    id: 'fields',
    title: 'Fields',
    group: 'Account',
    scope: 'field:read',
    Page: load('Fields', () => import('./fields.tsx')),
  },
  {
    id: 'users',
    title: 'Users',
    group: 'Account',
    scope: 'user:read',
    Page: load('Users', () => import('./users.tsx')),
  },
  {
    id: 'roles',
    title: 'Roles',
    group: 'Account',
    scope: 'role:read',
    Page: load('Roles', () => import('./roles.tsx')),
  },
  {
    id: 'territories',
    title: 'Territories',
    group: 'Account',
    scope: 'territory:read',
    Page: load('Territories', () => import('./resource-settings.tsx')),
  },
  {
    id: 'tags',
    title: 'Tags',
    group: 'Account',
    scope: 'tag:read',
    Page: load('Tags', () => import('./resource-settings.tsx')),
  },
  {
    id: 'currencies',
    title: 'Currencies',
    group: 'Account',
    scope: 'currency:read',
    Page: load('Currencies', () => import('./currencies.tsx')),
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    group: 'Account',
    scope: 'webhook:read',
    Page: load('Webhooks', () => import('./webhooks.tsx')),
  },
  {
    id: 'backup',
    title: 'Backup',
    group: 'Account',
    scope: 'admin',
    Page: load('Backup', () => import('./backup.tsx')),
  },
]
