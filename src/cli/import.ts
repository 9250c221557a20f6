/** `dealwright import`: a file becomes records (D80), by the same job as over HTTP. */
import { createReadStream, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Callers } from '../accounts/callers.ts'
import { requireNewFile } from '../backup/file.ts'
import { grouped, progress } from '../backup/progress.ts'
import type { Database } from '../db/open.ts'
import { changedPlan, planMembers } from '../imports/change.ts'
import { formats, importedResources } from '../imports/plan.ts'
import { refusedFile } from '../imports/refused-file.ts'
import { importedFields } from '../imports/step.ts'
import { emptyPlan, takeRows } from '../imports/take.ts'
import type { Job } from '../jobs/job.ts'
import { begin, changePlan, insertJob, type NewJob, noteFile, readJob, removeJob } from '../jobs/store.ts'
import { JobWorker } from '../jobs/worker.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../json.ts'
import { reserveIds } from '../records/write.ts'
import { resources } from '../resources.ts'
import { CommandRefusal, type Given, type Operating, type Outcome } from './command.ts'
import { told } from './printable.ts'
import { findAccount, findUser } from './whom.ts'

/** What is given, with paths that hold for the service too, and with the text of the map. */
export function importGiven(given: Given): Given {
  const { FILE: file, map, errors } = given
  return {
    ...given,
    FILE: resolve(file!),
    ...(map === undefined ? {} : { map: readText(map) }),
    ...(errors === undefined ? {} : { errors: resolve(errors) }),
  }
}

/** Imports the file on an open database, and answers when it is done. */
export async function importFile(db: Database, given: Given, operating: Operating): Promise<Outcome> {
  const { resource, FILE: file = '' } = given
  const account = await findAccount(db, given)
  const user = await findUser(db, account.id, given.user!)
  if (!user) throw new CommandRefusal(`There is no user ${JSON.stringify(given.user)}.`)
  if (!importedResources.has(resource!))
    throw new CommandRefusal(`Files can be imported to ${[...importedResources].join(', ')}.`)
  const format = formats.find(one => one === (given.format ?? file.toLowerCase().split('.').at(-1)))
  if (!format) throw new CommandRefusal(`Say with --format how the file is written: ${formats.join(', ')}.`)
  if (given.errors !== undefined) requireNewFile(given.errors)
  const callers = new Callers(db, resources, () => performance.now())
  const acting = await callers.actingFor(account.id, user.id)
  if (!acting) throw new CommandRefusal('The user is not in use.')
  const key = { account: account.id, id: await reserveIds(db, account.id, 'last_id', 1) }
  const by = { actsAs: user.id, token: null, session: null, requestId: null, scopes: ['admin'] }
  const waiting: NewJob = {
    ...{ key, kind: 'import', resource: resource!, name: basename(file), state: 'waiting', phase: null, by },
    ...{ plan: emptyPlan(format) as never, columns: null, total: null },
  }
  await insertJob(db, waiting, null)
  try {
    const fields = importedFields(acting.catalog.resources.get(resource!)!)
    const found = await takeRows(db, key, fields, acting.catalog, createReadStream(file), { format })
    const job = await noteFile(db, key, found)
    if (given.map !== undefined) {
      const plan = changedPlan(job, mapOf(given.map, job), fields, acting.catalog)
      await changePlan(db, key, plan as unknown as JsonObject)
    }
    const phase = given['dry-run'] ? 'dry_run' : 'run'
    await begin(db, key, ['waiting'], phase, { position: 0, total: job.total }, by)
  } catch (error) {
    await removeJob(db, key)
    throw (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? new CommandRefusal(`There is no file ${file}.`)
      : error
  }
  const job = await carriedOut(db, callers, key, operating)
  const phase = job.phase === 'dry_run' ? 'dry_run' : 'run'
  if (given.errors !== undefined) await writeErrors(db, job, phase, given.errors)
  if (phase === 'dry_run') await removeJob(db, key)
  return outcomeOf(job, given)
}

/** Works for the job in this process until it has ended. */
async function carriedOut(
  db: Database,
  callers: Callers,
  key: { account: number; id: number },
  { retentionDays, isTerminal }: Operating,
): Promise<Job> {
  const line = isTerminal ? progress() : { show() {}, clear() {} }
  const worker = new JobWorker({ db, callers, now: () => new Date(), log: () => {}, retentionDays })
  try {
    for (worker.wake(key); ; await sleep(100)) {
      const job = (await readJob(db, key, null))!
      const rate = job.workedMs ? `, ${grouped(Math.round((job.done / job.workedMs) * 1000))} a second` : ''
      line.show(`${grouped(job.done)} of ${grouped(job.total ?? 0)} rows${rate}`)
      if (job.state !== 'running') return job
    }
  } finally {
    line.clear()
    await worker.stop()
  }
}

function outcomeOf(job: Job, given: Given): Outcome {
  const { created, updated, unchanged, skipped, refused } = job.counts
  const did = job.phase === 'dry_run' ? 'Tried' : 'Imported'
  const counts = `${grouped(created)} created, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged, ${grouped(skipped)} skipped`
  const advice = refused && given.errors === undefined ? '; --errors FILE writes them with the reasons' : ''
  const id = job.phase === 'dry_run' ? '' : ` The job is ${job.id}.`
  const text = job.error
    ? told`The import ended: ${job.error}`
    : `${did} ${grouped(job.done)} rows: ${counts}, ${grouped(refused)} refused${advice}.${id}`
  return {
    text,
    data: {
      ...{ job: job.id, state: job.state, error: job.error, rows: job.done },
      ...{ created, updated, unchanged, skipped, refused },
    },
    isWrong: job.error !== null || refused > 0,
  }
}

async function writeErrors(db: Database, job: Job, phase: 'dry_run' | 'run', path: string): Promise<void> {
  const file = await open(path, 'wx')
  try {
    for await (const text of refusedFile(db, job, phase, refused => refused)) await file.write(text)
  } finally {
    await file.close()
  }
}

/** A map: what PATCH of an import takes, or an object of columns' names and what they become. */
function mapOf(text: string, { columns }: Job): Json {
  let map: Json
  try {
    map = parseJson(text)
  } catch (error) {
    throw new CommandRefusal(`The map is not JSON: ${(error as Error).message}.`)
  }
  if (!isObject(map) || planMembers.some(name => name in map)) return map
  const mapping = Object.entries(map).map(([name, field]) => {
    const column = (columns ?? []).findIndex(one => one.name === name)
    if (column < 0) throw new CommandRefusal(`The file has no column ${JSON.stringify(name)}.`)
    return { column, field }
  })
  return { mapping }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new CommandRefusal(`The map ${path} can't be read.`)
  }
}
