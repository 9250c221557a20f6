/** The routes of jobs, imports and bulk changes (D80, D82, D84). */
import type { Schema } from '../../fields/field.ts'
import { anyObject, arrayOf, closedObject, schemaRef, text } from '../../fields/kinds/schemas.ts'
import { dateOrders } from '../../files/texts.ts'
import { actions as duplicateActions, formats, importedResources } from '../../work/imports/plan.ts'
import { dryRunParameter, envelope, type Operation, ok, queryParameter } from '../openapi/operation.ts'
import { type AccountRoute, base, type Readable, route } from '../route.ts'
import { batchedResources } from './batch.ts'
import { fileTypes, importHandlers } from './imports.ts'
import { act, bulkHandler, type JobAction, type JobService, jobActions, jobHandlers } from './jobs.ts'

const job = envelope(schemaRef('job'))
const list = envelope(arrayOf(schemaRef('job')), schemaRef('job_page'), true)
const responses = [ok('The job.', job)]
const createdJob = { status: 201, description: 'The job.', schema: job, headers: ['location'] }

const summaries: { readonly [action in JobAction]: (noun: string) => string } = {
  dry_run: noun => `Tries the ${noun}: everything is checked, nothing is saved.`,
  run: noun => `Runs the ${noun}.`,
  pause: noun => `Pauses the ${noun}.`,
  resume: noun => `Resumes the paused ${noun}.`,
  cancel: noun => `Cancels the ${noun}. Its changes so far stay.`,
  revert: noun => `Takes back the changes of the ${noun}, except what somebody has changed since.`,
}

export function jobRoutes(service: JobService): AccountRoute[] {
  const jobs = jobHandlers(service)
  return [
    route('GET', `${base}/job`, 'job:read', jobs.list, {
      ...{
        id: 'job_list',
        summary: "Lists jobs, the newest first: one's own; an administrator all.",
        tag: 'job',
      },
      parameters: [
        queryParameter('pageSize', 'Jobs in a page; default: 25.', {
          type: 'integer',
          minimum: 1,
          maximum: 100,
        }),
        queryParameter('cursor', 'The meta.nextCursor of the page before.', text),
      ],
      responses: [ok('The jobs.', list)],
      errors: [],
    }),
    route('GET', `${base}/job/:id`, 'job:read', jobs.get, {
      ...{ id: 'job_get', summary: 'Reads a job and how far it has come.', tag: 'job' },
      responses,
      errors: ['record_not_found'],
    }),
    ...jobActions.map(action =>
      route('POST', `${base}/job/:id/${action}`, 'job:write', jobs[action], actionOperation('job', action)),
    ),
    ...importRoutes(service),
    ...[...batchedResources].map(resource => bulkRoute(service, resource)),
  ]
}

function importRoutes(service: JobService): AccountRoute[] {
  const imports = importHandlers(service)
  const scope = 'import:write'
  const one = `${base}/import/:id`
  return [
    { ...route('POST', `${base}/import`, scope, imports.create, uploadOperation()), uploads: fileTypes },
    route('GET', one, scope, imports.get, {
      ...{ id: 'import_get', summary: 'Reads an import and how far it has come.', tag: 'import' },
      responses,
      errors: ['record_not_found'],
      takesKey: false,
    }),
    route('PATCH', one, scope, imports.change, {
      ...{
        id: 'import_update',
        summary: 'Changes the mapping and options of an import before it runs.',
        tag: 'import',
      },
      body: { schema: importChange() },
      responses,
      errors: ['record_not_found', 'validation_failed', 'wrong_state'],
      takesKey: false,
    }),
    {
      ...route('GET', `${one}/errors.csv`, scope, imports.errors, {
        ...{ id: 'import_errors', summary: 'The rows that were refused, with the reasons.', tag: 'import' },
        responses: [
          {
            ...{ status: 200, description: 'The file.', schema: text, mediaType: 'text/csv' },
            headers: ['content-disposition'],
          },
        ],
        errors: ['record_not_found'],
        takesKey: false,
      }),
      isFile: true,
    },
    ...jobActions.map(action =>
      route(
        'POST',
        `${one}/${action}`,
        scope,
        request => act(service, request, action, 'import'),
        actionOperation('import', action),
      ),
    ),
  ]
}

function uploadOperation(): Operation {
  return {
    ...{ id: 'import_create', summary: 'Takes a file that is to be imported.', tag: 'import' },
    description: 'The answer has a guess of what its columns are. Nothing is imported before it is run.',
    parameters: [
      queryParameter('resource', 'Record type of the rows.', { enum: [...importedResources] }, true),
      queryParameter('format', 'File format.', { enum: [...formats] }, true),
      queryParameter('name', 'The name of the file.', { ...text, maxLength: 255 }),
      queryParameter('delimiter', 'Delimiter of CSV; detected if absent.', text),
      queryParameter(
        'encoding',
        'Text encoding of CSV and JSON lines; default: the charset of the media type, else detected.',
        text,
      ),
      queryParameter('sheet', 'The name of a sheet of XLSX; else the first that is visible.', text),
      queryParameter('header', 'Line of the header row; 0: no header row; detected if absent.', {
        ...{ type: 'integer', minimum: 0, maximum: 1_000_000 },
      }),
    ],
    body: { schema: { type: 'string', format: 'binary' }, mediaTypes: fileTypes },
    responses: [createdJob],
    errors: ['malformed_request', 'validation_failed', 'storage_unavailable'],
    takesKey: false,
  }
}

/** The actions that require each column to be mapped or left out. */
const needingMapping: ReadonlySet<JobAction> = new Set(['dry_run', 'run'])

function actionOperation(kind: 'job' | 'import', action: JobAction): Operation {
  return {
    ...{ id: `${kind}_${action}`, summary: summaries[action](kind), tag: kind },
    responses,
    errors: [
      'record_not_found',
      'wrong_state',
      ...(needingMapping.has(action) ? (['validation_failed'] as const) : []),
    ],
    takesKey: false,
  }
}

function bulkRoute(service: JobService, resource: Readable): AccountRoute {
  const filter = {
    type: ['string', 'array'],
    minLength: 1,
    minItems: 1,
    items: { type: 'string', minLength: 1 },
  }
  const properties = { filter, changes: schemaRef(`${resource}_input`) }
  return route('POST', `${base}/${resource}/bulk`, `${resource}:write`, bulkHandler(service, resource), {
    ...{
      id: `${resource}_bulk`,
      summary: 'Makes the same changes to all that a filter finds.',
      tag: resource,
    },
    description: 'A job does it, one record after the other; it can be taken back.',
    parameters: dryRunParameter,
    body: { schema: closedObject(properties, ['filter', 'changes']) },
    responses: [createdJob],
    errors: ['validation_failed'],
  })
}

function importChange(): Schema {
  const members = (properties: Schema) => ({ type: 'object', properties, additionalProperties: false })
  const item = members({ column: { type: 'integer', minimum: 0 }, field: { type: ['string', 'null'] } })
  const properties = {
    mapping: {
      ...{ type: ['array', 'null'], items: { ...item, required: ['column', 'field'] } },
      description: 'null: as it was guessed. A column with the field null is left out.',
    },
    confirm: {
      type: 'boolean',
      description: 'Open columns become what they are guessed to be, or are left out.',
    },
    values: { type: 'object', additionalProperties: anyObject },
    defaults: { ...anyObject, description: 'Values of the rows that say nothing of a target.' },
    duplicates: members({ by: { type: ['string', 'null'] }, action: { enum: [...duplicateActions] } }),
    formats: members({ date: { enum: [...dateOrders, null] }, decimal: { enum: ['.', ',', null] } }),
  }
  return members(properties)
}
