/** The entries of the navigation: the path, the keys, the required scope, and synonyms. */
import {
  Building2,
  ChartColumn,
  CircleCheckBig,
  Columns3,
  Package,
  Settings,
  Table2,
  Upload,
  Users,
} from 'lucide-react'
import type { Me } from '../api/api.ts'
import { may } from './me.ts'

const places = [
  {
    to: '/board',
    params: {},
    label: 'Board',
    icon: Columns3,
    keys: 'g b',
    words: 'kanban pipeline cards',
    scope: 'deal:read',
  },
  {
    to: '/today',
    params: {},
    label: 'Today',
    icon: CircleCheckBig,
    keys: 'g t',
    words: 'tasks to-do agenda activities calls',
    scope: 'activity:read',
  },
  {
    to: '/$table',
    params: { table: 'deals' },
    label: 'Deals',
    icon: Table2,
    keys: 'g d',
    words: 'opportunities list table',
    scope: 'deal:read',
  },
  {
    to: '/$table',
    params: { table: 'contacts' },
    label: 'Contacts',
    icon: Users,
    keys: 'g c',
    words: 'people persons customers',
    scope: 'contact:read',
  },
  {
    to: '/$table',
    params: { table: 'companies' },
    label: 'Companies',
    icon: Building2,
    keys: 'g o',
    words: 'company organizations customers',
    scope: 'company:read',
  },
  {
    to: '/$table',
    params: { table: 'products' },
    label: 'Products',
    icon: Package,
    keys: 'g p',
    words: 'catalogue prices',
    scope: 'product:read',
  },
  {
    to: '/forecast',
    params: {},
    label: 'Forecast',
    icon: ChartColumn,
    keys: 'g f',
    words: 'reports changes waterfall funnel statistics charts reasons owners won lost',
    scope: 'deal:read',
  },
  {
    to: '/import',
    params: {},
    label: 'Import',
    icon: Upload,
    keys: 'g i',
    words: 'upload csv excel file',
    scope: 'import:write',
  },
  {
    to: '/settings',
    params: {},
    label: 'Settings',
    icon: Settings,
    keys: 'g s',
    words: 'preferences administration configuration',
    scope: null,
  },
] as const

/** The entries that the user may see. */
export const navigationFor = (me: Me) => places.filter(({ scope }) => scope === null || may(me, scope))
