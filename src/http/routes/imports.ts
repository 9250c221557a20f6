/** Imports over HTTP (D80): upload of a file, review of its mapping, start of the job. */
import { Readable } from 'node:stream'
import { Problems, Refusal } from '../../errors.ts'
import type { Source } from '../../files/read.ts'
import type { JsonObject } from '../../json.ts'
import { addProblem, throwProblems } from '../../lists/parameters.ts'
import { resolveNames } from '../../records/names.ts'
import type { Transaction } from '../../records/store.ts'
import { type Quota, quota, shareOf } from '../../waiting/quota.ts'
import { changedPlan } from '../../work/imports/change.ts'
import { formats, importedResources } from '../../work/imports/plan.ts'
import { refusedFile } from '../../work/imports/refused-file.ts'
import { importedSchema } from '../../work/imports/step.ts'
import { emptyPlan, takeRows } from '../../work/imports/take.ts'
import { nameable } from '../../work/imports/targets.ts'
import { refusedFor } from '../../work/jobs/refused.ts'
import { changePlan, noteFile, removeJob } from '../../work/jobs/store.ts'
import type { Answer } from '../answer.ts'
import { readParameters } from '../parameters.ts'
import { type ApiRequest, bodyOf, schemaOf } from '../request.ts'
import type { Handler } from '../route.ts'
import { turnOf } from './dry-run.ts'
import { type JobService, jobAnswer, makeJob, requireJob } from './jobs.ts'

/** The media types of uploads. */
export const fileTypes = [
  'text/csv',
  'application/x-ndjson',
  'application/jsonl',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/octet-stream',
]

/** Quota of temporary files of a process, which accounts share: a workbook has at most 1 GiB. */
const uploadedBytes = 4 * 1024 ** 3

export function importHandlers({ db }: JobService) {
  const uploads = quota('upload_bytes', uploadedBytes)
  return {
    create: (request: ApiRequest) => takeFile(db, request, uploads),
    get: async (request: ApiRequest) => jobAnswer(db, request, await requireJob(db, request, 'import')),
    change: async (request: ApiRequest) => {
      return db.transaction(turnOf(request), async tx => ({
        commits: true,
        result: await change(tx, request),
      }))
    },
    errors: async (request: ApiRequest): Promise<Answer> => {
      const job = await requireJob(db, request, 'import')
      const phase = job.phase === 'dry_run' ? 'dry_run' : 'run'
      const headers = {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': `attachment; filename="import-${job.id}-errors.csv"`,
      }
      const file = refusedFile(db, job, phase, refusedFor(request.caller, job))
      return { status: 200, headers, body: Readable.from(file, { objectMode: false }) }
    },
  } satisfies { [name: string]: Handler }
}

/** Changes the plan of an import, beside other changes at the same time. */
async function change(tx: Transaction, request: ApiRequest): Promise<Answer> {
  const job = await requireJob(tx, request, 'import', true)
  const schema = importedSchema(schemaOf(request, job.resource))
  const known = nameable(request.caller, job.resource)
  const plan = await resolveNames(tx, request.caller, names =>
    changedPlan(job, bodyOf(request), schema, known, names),
  )
  const changed = job.total === null ? null : await changePlan(tx, job, plan as unknown as JsonObject)
  if (!changed) throw new Refusal('wrong_state', `The import ${job.id} can't be changed: it is ${job.state}.`)
  return jobAnswer(tx, request, changed)
}

/** Reads a file, stores its rows, and guesses the mapping of its columns. */
async function takeFile(db: Transaction, request: ApiRequest, uploads: Quota): Promise<Answer> {
  readParameters(request.query, parameters, [])
  const upload = uploadOf(request)
  const { resource, source, name } = readUpload(request)
  request.caller.rights.need(`${resource}:write`)
  const schema = importedSchema(schemaOf(request, resource))
  const catalog = nameable(request.caller, resource)
  const key = await makeJob(db, request, {
    ...{ kind: 'import', resource, name, state: 'waiting', phase: null },
    ...{ plan: emptyPlan(source.format) as never, columns: null, total: null },
  })
  // From here on it mostly waits for the client.
  request.release()
  const askAgain = async () => (await request.latestCaller()).rights.need(`${resource}:write`)
  try {
    const bytes = whilePermitted(upload, askAgain)
    const share = shareOf(uploads, key.account)
    const found = await takeRows(db, key, schema, catalog, { bytes, source, share })
    return jobAnswer(db, request, await noteFile(db, key, found), 201)
  } catch (error) {
    await removeJob(db, key)
    throw error
  }
}

const askAgainMs = 1000

/** The bytes of an upload, which ends when its caller's rights do (D61): it may take long. */
async function* whilePermitted(
  bytes: AsyncIterable<Uint8Array>,
  askAgain: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let askedAt = performance.now()
  for await (const chunk of bytes) {
    if (performance.now() - askedAt > askAgainMs) {
      await askAgain()
      askedAt = performance.now()
    }
    yield chunk
  }
}

const parameters = ['resource', 'format', 'name', 'delimiter', 'encoding', 'sheet', 'header']

function readUpload({ query, charset }: ApiRequest): {
  resource: string
  source: Source
  name: string | null
} {
  const {
    resource,
    format,
    name = null,
    delimiter,
    encoding,
    sheet,
    header,
  } = readParameters(query, parameters, ['resource', 'format'])
  const known = formats.find(one => one === format)
  const problems = new Problems()
  const wrong = (parameter: string, message: string) =>
    addProblem(problems, parameter, 'invalid_value', message)
  if (!importedResources.has(resource!))
    wrong('resource', `resource must be one of ${[...importedResources].join(', ')}.`)
  if (!known) wrong('format', `format must be one of ${formats.join(', ')}.`)
  if (name && name.length > 255) wrong('name', 'name has at most 255 characters.')
  const isLine = header === undefined || /^\d{1,7}$/.test(header)
  if (!isLine) wrong('header', 'header must be the number of a line, or 0.')
  if (name?.includes('\0')) wrong('name', 'name must not have a NUL character.')
  throwProblems(problems, 'The query could not be read.')
  const given = {
    ...(delimiter ? { delimiter } : {}),
    ...(encoding ? { encoding } : {}),
    ...(charset ? { charset } : {}),
    ...(sheet ? { sheet } : {}),
    ...(header ? { header: Number(header) } : {}),
  }
  return { resource: resource!, source: { format: known!, ...given }, name }
}

function uploadOf({ upload }: ApiRequest): AsyncIterable<Uint8Array> {
  if (upload) return upload
  throw new Refusal('unsupported_media_type', `Send the file as the body, as one of ${fileTypes.join(', ')}.`)
}
