/** What the routes of fields, options and forms are, for the OpenAPI document (D90). */
import type { ErrorSlug } from '../errors.ts'
import type { Schema } from '../fields/field.ts'
import { type About, created, deleted, enveloped, named, ok, tried } from '../openapi/about.ts'

const changing: readonly ErrorSlug[] = ['validation_failed', 'duplicate', 'version_conflict']

type FieldOperation =
  | 'list'
  | 'dropdown'
  | 'form'
  | 'arrange'
  | 'create'
  | 'get'
  | 'replace'
  | 'update'
  | 'remove'
  | 'restore'
  | 'createOption'
  | 'replaceOption'
  | 'updateOption'
  | 'removeOption'

/** Fields, their options, and the forms that show them. */
export function fieldAbouts(): { readonly [operation in FieldOperation]: About } {
  const tag = 'field'
  const field = enveloped(named('field'), named('write_meta'))
  const update: Omit<About, 'id'> = {
    ...{ tag, summary: 'Changes a field: what is left out stays.', ifMatch: true, parameters: tried },
    body: { schema: named('field_input') },
    answers: [ok('The field.', field, ['etag'])],
    refuses: ['field_not_found', 'record_not_found', ...changing],
  }
  return {
    create: {
      ...{ id: 'field_create', summary: 'Creates a custom field.', tag, parameters: tried },
      description: 'Records have it as its internal name, which is made of field_name: cf_project_number.',
      body: { schema: named('field_new') },
      answers: [created(field)],
      refuses: changing,
    },
    get: {
      ...{ id: 'field_get', summary: 'Reads a field.', tag },
      answers: [ok('The field.', field, ['etag'])],
      refuses: ['field_not_found', 'record_not_found'],
    },
    replace: { ...update, id: 'field_replace', summary: 'Changes a field, as PATCH does.' },
    update: { ...update, id: 'field_update' },
    remove: {
      ...{ id: 'field_delete', summary: 'Deletes a custom field.', tag, ifMatch: true, parameters: tried },
      answers: [deleted],
      refuses: ['field_not_found', 'record_not_found', 'in_use', ...changing],
    },
    restore: {
      ...{ id: 'field_restore', summary: 'Restores a deleted field.', tag, ifMatch: true, parameters: tried },
      answers: [ok('The field.', field, ['etag'])],
      refuses: ['field_not_found', 'record_not_found', ...changing],
    },
    ...metadataAbouts(),
    ...optionAbouts(),
  }
}

function metadataAbouts(): { readonly [operation in 'list' | 'dropdown' | 'form' | 'arrange']: About } {
  const tag = 'field'
  const flag = { enum: ['true', 'false'] }
  const asked = (name: string, description: string, schema: Schema, more: Schema = {}) => ({
    ...{ name, in: 'query', description, schema },
    ...more,
  })
  const form = ok('The form.', enveloped(named('form')), ['etag'])
  const arranged = ok('The form.', enveloped(named('form'), named('write_meta')), ['etag'])
  return {
    list: {
      ...{ id: 'field_list', summary: 'Lists the fields of a resource, by the sections of its form.', tag },
      parameters: ['source', asked('include_deleted', 'Lists deleted fields too.', flag)],
      answers: [ok('The fields.', enveloped(named('field_list')))],
      refuses: ['field_not_found'],
    },
    dropdown: {
      ...{ id: 'field_dropdown', summary: 'Lists what a dropdown offers.', tag },
      description:
        'The ids and names that a field takes: of options, pipelines, stages, owners, tags, territories and currencies.',
      parameters: [
        asked(
          'name',
          'The internal name of the field. An example: won_reason.',
          { type: 'string', minLength: 1 },
          { required: true },
        ),
        { $ref: '#/components/parameters/any_source' },
        asked('pipeline', 'The id of a pipeline: its stages only.', {
          type: 'string',
          pattern: '^\\d{1,15}$',
        }),
        asked('include_inactive', 'Lists options that are out of use too.', flag),
      ],
      answers: [
        ok('The options.', enveloped({ type: 'array', items: named('choice') }, named('choices_meta'), true)),
      ],
      refuses: ['field_not_found', 'not_a_dropdown', 'forbidden'],
    },
    form: {
      ...{ id: 'form_get', summary: 'Reads the form of a resource.', tag, parameters: ['source'] },
      answers: [form],
      refuses: ['field_not_found'],
    },
    arrange: {
      ...{
        id: 'form_replace',
        summary: 'Arranges the form of a resource.',
        tag,
        parameters: ['source', ...tried],
      },
      body: { schema: named('form_input') },
      answers: [arranged],
      refuses: ['field_not_found', ...changing],
      ifMatch: true,
    },
  }
}

function optionAbouts(): {
  readonly [operation in 'createOption' | 'replaceOption' | 'updateOption' | 'removeOption']: About
} {
  const option = enveloped(named('option'), named('write_meta'))
  const change: Omit<About, 'id' | 'summary' | 'answers'> = {
    ...{ tag: 'field', ifMatch: true, parameters: tried },
    body: { schema: named('option_input') },
    refuses: ['not_a_dropdown', 'field_not_found', 'record_not_found', ...changing],
  }
  const answers = [ok('The option.', option, ['etag'])]
  return {
    createOption: {
      ...{ ...change, id: 'option_create', summary: 'Adds an option to a field.' },
      ...{
        body: { schema: named('option_new') },
        answers: [created(option)],
      },
    },
    replaceOption: { ...change, id: 'option_replace', summary: 'Changes an option, as PATCH does.', answers },
    updateOption: {
      ...change,
      id: 'option_update',
      summary: 'Changes an option: what is left out stays.',
      answers,
    },
    removeOption: {
      ...{
        id: 'option_delete',
        summary: 'Takes an option out of use.',
        tag: 'field',
        ifMatch: true,
        parameters: tried,
      },
      ...{
        answers: [deleted],
        refuses: ['not_a_dropdown', 'field_not_found', 'record_not_found', 'in_use', ...changing],
      },
    },
  }
}
