/**
 * The resources that have a table and a page: their name in the address, how people call them, the field that
 * leads to the page, the order and the columns of a table that nobody has set otherwise.
 */

export const tables = {
  deals: {
    resource: 'deal',
    one: 'deal',
    title: 'Deals',
    name: 'title',
    sort: 'updated_at:desc',
    columns:
      'title:300,pipeline_stage,deal_value,sales_owner,company,primary_contact,expected_close_date,tags,updated_at',
    /** whether the service sums them up */
    hasSums: true,
  },
  contacts: {
    resource: 'contact',
    one: 'contact',
    title: 'Contacts',
    name: 'first_name',
    sort: 'last_name:asc',
    columns: 'first_name,last_name,job_title,company,emails,phones,territory,updated_at',
    hasSums: false,
  },
  companies: {
    resource: 'company',
    one: 'company',
    title: 'Companies',
    name: 'name',
    sort: 'name:asc',
    columns: 'name:260,website,phones,address,territory,updated_at',
    hasSums: false,
  },
  products: {
    resource: 'product',
    one: 'product',
    title: 'Products',
    name: 'name',
    sort: 'name:asc',
    columns: 'name:260,product_code,category,unit_price,active,quantity_in_stock,sales_owner,updated_at',
    hasSums: false,
  },
  activities: {
    resource: 'activity',
    one: 'activity',
    title: 'Activities',
    name: 'subject',
    sort: 'due_at:asc',
    columns: 'subject:280,kind,due_at,done_at,owner,deal,contact,outcome',
    hasSums: false,
  },
} as const

export type TableName = keyof typeof tables

/** The name of a resource's table in the address; undefined where it has none. */
export function tableOf(resource: string): TableName | undefined {
  return (Object.keys(tables) as TableName[]).find(key => tables[key].resource === resource)
}
