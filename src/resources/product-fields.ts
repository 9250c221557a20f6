/**
 * The product's fields as data, in the interface's order. A published id is never reused. A new product is
 * active (D47).
 */
import { defineFields, idField, recordFields } from '../fields/define.ts'
import { jsonNumber } from '../json.ts'

const quantity = { min: 0, max: jsonNumber('9999999999999999') }

export const productFields = defineFields('product', {
  'Basic information': [
    idField(201),
    {
      id: 202,
      name: 'name',
      label: 'Name',
      type: 'SINGLE_STRING',
      required: true,
      config: { min_length: 1, max_length: 255 },
    },
    {
      id: 203,
      name: 'product_code',
      label: 'Product code',
      type: 'SINGLE_STRING',
      acceptsNumber: true,
      config: { min_length: 1, max_length: 20 },
    },
    { id: 204, name: 'category', label: 'Category', type: 'DROPDOWN' },
    {
      id: 205,
      name: 'unit_price',
      label: 'Unit price',
      type: 'PRICE_TAGS',
      config: { min: 0, max: 9999999999999 },
    },
    { id: 206, name: 'active', label: 'Active', type: 'DROPDOWN', options: ['Yes', 'No'], default: 1 },
    { id: 207, name: 'taxable', label: 'Taxable', type: 'DROPDOWN', options: ['Yes', 'No'] },
    { id: 208, name: 'quantity_ordered', label: 'Quantity ordered', type: 'SINGLE_NUMBER', config: quantity },
    {
      id: 209,
      name: 'quantity_in_stock',
      label: 'Quantity in stock',
      type: 'SINGLE_NUMBER',
      config: quantity,
    },
    {
      id: 210,
      name: 'description',
      label: 'Description',
      type: 'TEXT',
      config: { min_length: 1, max_length: 255 },
    },
    { id: 211, name: 'type', label: 'Type', type: 'DROPDOWN', options: ['Unit', 'Subscription'] },
    {
      id: 212,
      name: 'sku_number',
      label: 'SKU number',
      type: 'SINGLE_STRING',
      acceptsNumber: true,
      config: { min_length: 1, max_length: 16 },
    },
    { id: 213, name: 'valid_till', label: 'Valid till', type: 'DATE_TIME' },
  ],
  Record: [
    { id: 214, name: 'sales_owner', label: 'Sales owner', type: 'OWNER', related: 'user', offered: true },
    { id: 215, name: 'created_by', label: 'Created by', type: 'OWNER', readOnly: true, related: 'user' },
    { id: 216, name: 'updated_by', label: 'Updated by', type: 'OWNER', readOnly: true, related: 'user' },
    { id: 217, name: 'created_at', label: 'Created at', type: 'DATE_TIME', readOnly: true, filled: true },
    { id: 218, name: 'updated_at', label: 'Updated at', type: 'DATE_TIME', readOnly: true, filled: true },
    {
      id: 219,
      name: 'last_assigned_at',
      label: 'Last assigned at',
      type: 'DATE_TIME',
      readOnly: true,
      derivesFrom: ['sales_owner'],
    },
    {
      id: 220,
      name: 'base_currency_amount',
      label: 'Base currency amount',
      type: 'MONETARY',
      inBase: 'base_currency_amount',
      readOnly: true,
      derivesFrom: ['unit_price'],
      volatile: true,
    },
    ...recordFields(221),
  ],
})
