/** `dealwright import`: imports a file (D80), by the same job as over HTTP. */
import { createReadStream, readFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Callers } from '../accounts/callers.ts'
import { requireNewFile } from '../backup/file.ts'
import { grouped, progress } from '../backup/progress.ts'
import type { Database } from '../db/open.ts'
import type { Source } from '../files/read.ts'
import type { JsonObject } from '../json.ts'
import { reserveIds } from '../records/write/protocol.ts'
import { resources } from '../resources/resources.ts'
import type { ColumnState } from '../work/imports/columns.ts'
import { formats, importedResources } from '../work/imports/plan.ts'
import { refusedFile } from '../work/imports/refused-file.ts'
import { importedSchema } from '../work/imports/step.ts'
import { emptyPlan, takeRows } from '../work/imports/take.ts'
import type { Job } from '../work/jobs/job.ts'
import {
  begin,
  changePlan,
  insertJob,
  type JobKey,
  move,
  type NewJob,
  noteFile,
  readJob,
  removeJob,
} from '../work/jobs/store.ts'
import { isTransient, JobWorker } from '../work/jobs/worker.ts'
import { findAccount, userInUse } from './account-selector.ts'
import {
  asRefusal,
  type CommandArguments,
  type CommandContext,
  CommandRefusal,
  type Outcome,
} from './command.ts'
import { columnsData, linesOf, plannedBy, statesOf } from './import-columns.ts'
import { printable, printableText } from './printable.ts'

/** The arguments with absolute paths, which work for the service too, and with the text of the map. */
export function importGiven(args: CommandArguments): CommandArguments {
  const { FILE: file, map, errors } = args
  return {
    ...args,
    FILE: resolve(file!),
    ...(map === undefined ? {} : { map: readText(map) }),
    ...(errors === undefined ? {} : { errors: resolve(errors) }),
  }
}

/** Imports the file on an open database; returns when the job has ended. */
export async function importFile(
  db: Database,
  args: CommandArguments,
  context: CommandContext,
): Promise<Outcome> {
  const { resource, FILE: file = '' } = args
  const account = await findAccount(db, args)
  const user = await userInUse(db, account, args.user!)
  if (!importedResources.has(resource!))
    throw new CommandRefusal(`Files can be imported to ${[...importedResources].join(', ')}.`)
  const format = formats.find(one => one === (args.format ?? file.toLowerCase().split('.').at(-1)))
  if (!format) throw new CommandRefusal(`Say with --format how the file is written: ${formats.join(', ')}.`)
  if (args.errors !== undefined) await requireWritable(args.errors)
  const source = { format, ...sourceGiven(args) }
  const callers = new Callers(db, resources, () => performance.now())
  const acting = await callers.actingFor(account.id, user.id)
  if (!acting) throw new CommandRefusal(`${user.name} (user ${user.id}) is out of use.`)
  const key = { account: account.id, id: await reserveIds(db, account.id, 'last_id', 1) }
  const by = { actsAs: user.id, token: null, session: null, requestId: null, scopes: ['admin'] }
  const waiting: NewJob = {
    ...{ key, kind: 'import', resource: resource!, name: basename(file), state: 'waiting', phase: null, by },
    ...{ plan: emptyPlan(format) as never, columns: null, total: null },
  }
  await insertJob(db, waiting, null)
  let states: readonly ColumnState[]
  try {
    const schema = importedSchema(acting.catalog.resources.get(resource!)!)
    const bytes = createReadStream(file, { signal: context.signal })
    const found = await takeRows(db, key, schema, acting.catalog, { bytes, source, share: null })
    const job = await noteFile(db, key, found)
    const plan = plannedBy(args, job, schema, acting.catalog)
    states = statesOf(job, plan, schema, acting.catalog)
    if (states.some(({ state }) => state === 'open')) {
      await removeJob(db, key)
      return unanswered(states)
    }
    await changePlan(db, key, plan as unknown as JsonObject)
    const phase = args['dry-run'] ? 'dry_run' : 'run'
    await begin(db, job, ['waiting'], phase, { position: 0, total: job.total }, by)
  } catch (error) {
    await removeJob(db, key)
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? new CommandRefusal(`There is no file ${file}.`)
      : error
  }
  const job = await carriedOut(db, callers, key, context)
  const phase = job.phase === 'dry_run' ? 'dry_run' : 'run'
  if (args.errors !== undefined) await writeErrors(db, job, phase, args.errors)
  if (phase === 'dry_run') await removeJob(db, key)
  return outcomeOf(job, args, states)
}

/** The options for reading the file, without defaults. */
function sourceGiven({ encoding, delimiter, sheet, header }: CommandArguments): Omit<Source, 'format'> {
  if (header !== undefined && !/^\d{1,7}$/.test(header))
    throw new CommandRefusal('--header must be the number of a line, or 0.')
  return {
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter: delimiter === '\\t' ? '\t' : delimiter }),
    ...(sheet === undefined ? {} : { sheet }),
    ...(header === undefined ? {} : { header: Number(header) }),
  }
}

/** Works on the job in this process until it has ended. */
async function carriedOut(
  db: Database,
  callers: Callers,
  key: JobKey,
  context: CommandContext,
): Promise<Job> {
  const { retentionDays, isTerminal } = context
  const line = isTerminal ? progress() : { show() {}, clear() {} }
  const worker = new JobWorker({ db, callers, now: () => new Date(), log: () => {}, retentionDays })
  try {
    for (worker.wake(key); ; await sleep(100)) {
      const job = await jobNow(db, key, context)
      if (!job) {
        line.show('The database is away; the import goes on when it is back')
        continue
      }
      const rate = job.workedMs ? `, ${grouped(Math.round((job.done / job.workedMs) * 1000))} a second` : ''
      line.show(`${grouped(job.done)} of ${grouped(job.total ?? 0)} rows${rate}`)
      if (job.state !== 'running') return job
    }
  } finally {
    line.clear()
    await worker.stop()
  }
}

/**
 * The job, which is cancelled if nobody waits for it any more. Null while the database is away: the work goes
 * on afterwards. Within a service it is away because the service ends, and another start goes on.
 */
async function jobNow(
  db: Database,
  key: JobKey,
  { isTerminal, signal }: CommandContext,
): Promise<Job | null> {
  try {
    if (signal.aborted) await move(db, key, ['running'], 'cancelled')
    return (await readJob(db, key, null))!
  } catch (error) {
    if (!isTransient(error)) throw error
    if (isTerminal && !signal.aborted) return null
    const { message } = asRefusal(error) as Error
    throw new CommandRefusal(
      `${message} The import is not over: a running service, or the next start, goes on with it; see GET /import/${key.id}.`,
    )
  }
}

/** The result if columns still need a decision. */
function unanswered(states: readonly ColumnState[]): Outcome {
  const count = states.filter(({ state }) => state === 'open').length
  const what = `${grouped(count)} ${count === 1 ? 'column needs' : 'columns need'} an answer`
  const hint =
    '--leave-out NAME leaves one out, --map FILE says what it is, --yes takes all as they stand here.'
  return {
    text: [...linesOf(states), `Nothing was imported: ${what}. ${hint}`].join('\n'),
    data: { state: 'open', columns: columnsData(states) },
    exitCode: 3,
  }
}

function outcomeOf(job: Job, args: CommandArguments, states: readonly ColumnState[]): Outcome {
  const { created, updated, unchanged, skipped, refused, not_taken, replaced, users_out_of_use } = job.counts
  const did = job.phase === 'dry_run' ? 'Tried' : 'Imported'
  const counts = `${grouped(created)} created, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged, ${grouped(skipped)} skipped`
  const advice = refused && args.errors === undefined ? '; --errors FILE writes them with the reasons' : ''
  const id = job.phase === 'dry_run' ? '' : ` The job is ${job.id}.`
  const rows = `${grouped(job.done)} rows: ${counts}, ${grouped(refused)} refused${advice}.${id}`
  // After a dry run it waits for the run.
  const isDone = job.state === 'done' || job.state === 'waiting'
  const early =
    job.state === 'paused'
      ? `The import is paused after ${rows}`
      : printableText`The import ended: ${job.error ?? `it was ${job.state} after ${rows}`}`
  const text = isDone ? `${did} ${rows}` : early
  return {
    text: [
      ...linesOf(states),
      text,
      ...each(
        not_taken,
        (name, rows) => `Of ${name}, linked contacts and companies kept their own value in ${rows} rows.`,
      ),
      ...each(
        replaced,
        (name, entries) => `${name} replaced lists, and ${entries} of their entries are gone.`,
      ),
      ...each(
        users_out_of_use,
        (name, rows) => `${name} is out of use, and was taken as it stands in ${rows} rows.`,
      ),
    ].join('\n'),
    data: {
      ...{ job: job.id, state: job.state, error: job.error, rows: job.done },
      ...{ created, updated, unchanged, skipped, refused, not_taken, replaced, users_out_of_use },
      columns: columnsData(states),
    },
    exitCode: !isDone || refused > 0 ? 1 : 0,
  }
}

/** A line for each name: what happened with its rows, whose number is `count`. */
function each(counts: { readonly [name: string]: number }, lineOf: (name: string, count: string) => string) {
  return Object.entries(counts).map(([name, count]) => printable(lineOf(name, grouped(count))))
}

/** Throws before anything is imported if the file is there, or can't be made. */
async function requireWritable(path: string): Promise<void> {
  requireNewFile(path)
  const file = await open(path, 'wx', 0o600)
  await file.close()
  await rm(path)
}

async function writeErrors(db: Database, job: Job, phase: 'dry_run' | 'run', path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const text of refusedFile(db, job, phase, refused => refused)) await file.write(text)
  } finally {
    await file.close()
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandRefusal(`The map ${path} can't be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}
