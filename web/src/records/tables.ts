/** The resources that have a table and a page: their name in the address, and how people call them. */

export const tables = {
  deals: { resource: 'deal', one: 'deal', title: 'Deals', name: 'title', sort: 'updated_at:desc' },
  contacts: { resource: 'contact', one: 'contact', title: 'Contacts', name: 'name', sort: 'name:asc' },
  companies: { resource: 'company', one: 'company', title: 'Companies', name: 'name', sort: 'name:asc' },
  products: { resource: 'product', one: 'product', title: 'Products', name: 'name', sort: 'name:asc' },
  activities: {
    resource: 'activity',
    one: 'activity',
    title: 'Activities',
    name: 'subject',
    sort: 'due_at:asc',
  },
} as const

export type TableName = keyof typeof tables
