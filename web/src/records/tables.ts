/**
 * The resources that have a table and a page: their path, their labels, the field that links to the page, the
 * default order and columns of the table.
 */
import { mayRead } from '../api/queries.ts'

export const tables = {
  deals: {
    resource: 'deal',
    one: 'deal',
    title: 'Deals',
    name: 'title',
    sort: 'updated_at:desc',
    columns:
      'title:300,pipeline_stage,deal_value,sales_owner,company,primary_contact,expected_close_date,tags,updated_at',
  },
  contacts: {
    resource: 'contact',
    one: 'contact',
    title: 'Contacts',
    name: 'first_name',
    sort: 'last_name:asc',
    columns: 'first_name,last_name,job_title,company,emails,phones,territory,updated_at',
  },
  companies: {
    resource: 'company',
    one: 'company',
    title: 'Companies',
    name: 'name',
    sort: 'name:asc',
    columns: 'name:260,website,phones,address,territory,updated_at',
  },
  products: {
    resource: 'product',
    one: 'product',
    title: 'Products',
    name: 'name',
    sort: 'name:asc',
    columns: 'name:260,product_code,category,unit_price,active,quantity_in_stock,sales_owner,updated_at',
  },
  activities: {
    resource: 'activity',
    one: 'activity',
    title: 'Activities',
    name: 'subject',
    sort: 'due_at:asc',
    columns: 'subject:280,kind,due_at,done_at,owner,deal,contact,outcome',
  },
} as const

export type TableName = keyof typeof tables

/** The fields that make up the name of a record; the first links to its page. */
export const nameFieldsOf = (table: TableName): readonly string[] =>
  table === 'contacts' ? ['first_name', 'last_name'] : [tables[table].name]

/** The path of a resource's table; undefined if it has none. */
export function tableOf(resource: string): TableName | undefined {
  return (Object.keys(tables) as TableName[]).find(key => tables[key].resource === resource)
}

/** The address of a record's page. */
export function recordPath(resource: string, id: number): string {
  const name = tableOf(resource)
  return name ? `/${name}/${id}` : '/'
}

/** The same for a record that another one names; null without such a page, or the right to read it. */
export function readablePath(resource: string, id: number): string | null {
  return tableOf(resource) && mayRead(resource) ? recordPath(resource, id) : null
}
