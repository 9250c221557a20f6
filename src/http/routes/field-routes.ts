/** The routes of fields, their options, and the forms that show them (D33 to D36). */
import type { Callers } from '../../accounts/callers.ts'
import type { Database } from '../../db/open.ts'
import type { ErrorSlug } from '../../errors.ts'
import { arrayOf, schemaRef } from '../../fields/kinds/schemas.ts'
import type { Transaction } from '../../records/store.ts'
import type { BackgroundJobs } from '../../work/background/background-jobs.ts'
import {
  created,
  deleted,
  dryRunParameter,
  envelope,
  type Operation,
  ok,
  queryParameter,
} from '../openapi/operation.ts'
import { type AccountRoute, base, route } from '../route.ts'
import { withDryRun } from './dry-run.ts'
import { type FieldHandlers, fieldHandlers, withoutNewIds } from './fields.ts'
import { dropdownValues, fieldList, form } from './metadata.ts'

export type FieldRouteService = {
  readonly db: Database
  readonly callers: Callers
  readonly jobs: BackgroundJobs
  readonly retentionDays: number
}

const tag = 'field'
const [read, write] = ['field:read', 'field:write'] as const
const one = `${base}/field/:id`
const changing: readonly ErrorSlug[] = ['validation_failed', 'duplicate']

export function fieldRoutes({ db, callers, jobs, retentionDays }: FieldRouteService): AccountRoute[] {
  const make = (db: Transaction, isDry = false) =>
    fieldHandlers({
      ...{ db, retentionDays },
      catalogNow: account => callers.catalogNow(account, db),
      onConfigurationChange: account => {
        if (isDry) return
        callers.forget(account)
        void jobs.wake(account)
      },
    })
  const handlers = { ...withDryRun(db, make, withoutNewIds), get: make(db).get }
  return [...metadataRoutes(db, handlers), ...ownRoutes(handlers), ...optionRoutes(handlers)]
}

function metadataRoutes(db: Database, { arrange }: FieldHandlers): AccountRoute[] {
  const flag = { enum: ['true', 'false'] }
  const name = { type: 'string', minLength: 1 }
  const pipeline = { type: 'string', pattern: '^\\d{1,15}$' }
  const choices = arrayOf(schemaRef('choice'))
  return [
    route('GET', `${base}/field/list`, read, fieldList, {
      ...{ id: 'field_list', summary: 'Lists the fields of a resource, by the sections of its form.', tag },
      parameters: ['source', queryParameter('include_deleted', 'Lists deleted fields too.', flag)],
      responses: [ok('The fields.', envelope(schemaRef('field_list')))],
      errors: ['field_not_found'],
    }),
    route('GET', `${base}/field/dropdown`, read, dropdownValues(db), {
      ...{ id: 'field_dropdown', summary: 'Lists what a dropdown offers.', tag },
      description:
        'The ids and names that a field takes: of options, pipelines, stages, owners, tags, territories and currencies.',
      parameters: [
        queryParameter('name', 'The internal name of the field. An example: won_reason.', name, true),
        'any_source',
        queryParameter('pipeline', 'The id of a pipeline: its stages only.', pipeline),
        queryParameter('include_inactive', 'Lists options that are out of use too.', flag),
      ],
      responses: [ok('The options.', envelope(choices, schemaRef('choices_meta'), true))],
      errors: ['field_not_found', 'not_a_dropdown', 'forbidden'],
    }),
    route('GET', `${base}/field/form`, read, form, {
      ...{ id: 'form_get', summary: 'Reads the form of a resource.', tag, parameters: ['source'] },
      responses: [ok('The form.', envelope(schemaRef('form')), ['etag'])],
      errors: ['field_not_found'],
    }),
    route('PUT', `${base}/field/form`, write, arrange, {
      ...{ id: 'form_replace', summary: 'Arranges the form of a resource.', tag, ifMatch: true },
      parameters: ['source', ...dryRunParameter],
      body: { schema: schemaRef('form_input') },
      responses: [ok('The form.', envelope(schemaRef('form'), schemaRef('write_meta')), ['etag'])],
      errors: ['field_not_found', ...changing],
    }),
  ]
}

function ownRoutes({ create, get, update, remove, restore }: FieldHandlers): AccountRoute[] {
  const field = envelope(schemaRef('field'), schemaRef('write_meta'))
  const changed: Omit<Operation, 'id' | 'summary'> = {
    ...{ tag, ifMatch: true, parameters: dryRunParameter },
    responses: [ok('The field.', field, ['etag'])],
    errors: ['field_not_found', 'record_not_found', ...changing],
  }
  const change = { ...changed, body: { schema: schemaRef('field_input') } }
  return [
    route('POST', `${base}/field`, write, create, {
      ...{ id: 'field_create', summary: 'Creates a custom field.', tag, parameters: dryRunParameter },
      description: 'Records have it as its internal name, which is made of field_name: cf_project_number.',
      body: { schema: schemaRef('field_new') },
      responses: [created(field)],
      errors: changing,
    }),
    route('GET', one, read, get, {
      ...{ id: 'field_get', summary: 'Reads a field.', tag, responses: changed.responses },
      errors: ['field_not_found', 'record_not_found'],
    }),
    route('PUT', one, write, update, {
      ...{ ...change, id: 'field_replace', summary: 'Changes a field, as PATCH does.' },
    }),
    route('PATCH', one, write, update, {
      ...{ ...change, id: 'field_update', summary: 'Changes a field: what is left out stays.' },
    }),
    route('DELETE', one, write, remove, {
      ...{ ...changed, id: 'field_delete', summary: 'Deletes a custom field.', responses: [deleted] },
      errors: ['field_not_found', 'record_not_found', 'in_use', ...changing],
    }),
    route('POST', `${one}/restore`, write, restore, {
      ...{ ...changed, id: 'field_restore', summary: 'Restores a deleted field.' },
    }),
  ]
}

function optionRoutes({ createOption, updateOption, removeOption }: FieldHandlers): AccountRoute[] {
  const option = envelope(schemaRef('option'), schemaRef('write_meta'))
  const changed: Omit<Operation, 'id' | 'summary'> = {
    ...{ tag, ifMatch: true, parameters: dryRunParameter },
    responses: [ok('The option.', option, ['etag'])],
    errors: ['not_a_dropdown', 'field_not_found', 'record_not_found', ...changing],
  }
  const change = { ...changed, body: { schema: schemaRef('option_input') } }
  const path = `${one}/option/:option`
  return [
    route('POST', `${one}/option`, write, createOption, {
      ...{ ...changed, id: 'option_create', summary: 'Adds an option to a field.' },
      ...{ body: { schema: schemaRef('option_new') }, responses: [created(option)] },
    }),
    route('PUT', path, write, updateOption, {
      ...{ ...change, id: 'option_replace', summary: 'Changes an option, as PATCH does.' },
    }),
    route('PATCH', path, write, updateOption, {
      ...{ ...change, id: 'option_update', summary: 'Changes an option: what is left out stays.' },
    }),
    route('DELETE', path, write, removeOption, {
      ...{ ...changed, id: 'option_delete', summary: 'Takes an option out of use.', responses: [deleted] },
      errors: ['not_a_dropdown', 'field_not_found', 'record_not_found', 'in_use', ...changing],
    }),
  ]
}
