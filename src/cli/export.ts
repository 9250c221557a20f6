/** `dealwright export`: the records of a resource in a file (D81), with the rights of the service itself. */
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { loadCatalog } from '../accounts/callers.ts'
import { requireNewFile, writeFile } from '../backup/file.ts'
import { grouped, progress, size } from '../backup/progress.ts'
import { withSource } from '../backup/source.ts'
import type { Database } from '../db/open.ts'
import type { Parameters } from '../lists/parameters.ts'
import { resolveNames } from '../records/names.ts'
import { resources } from '../resources/resources.ts'
import { serviceActor } from '../rights/visibility.ts'
import { type ExportContext, openExport } from '../work/exports/export.ts'
import { exportParameters, formats, readExportQuery } from '../work/exports/query.ts'
import type { SpoolQuota } from '../work/exports/spool-file.ts'
import { findAccount } from './account-selector.ts'
import { asRefusal, type CommandArguments, CommandRefusal, type Outcome, type Terminal } from './command.ts'

/** On standard output it prints the records only; messages go to standard error. */
export async function exportRecords(
  { config, now, say, signal }: Terminal,
  args: CommandArguments,
): Promise<Outcome | null> {
  const { output: file } = args
  const parameters = parametersOf(args)
  if (file !== undefined) requireNewFile(file)
  else if (process.stdout.isTTY && parameters.get('format')?.[0] === 'xlsx')
    throw new CommandRefusal('A workbook is nothing for a terminal: name a file with -o.')
  const line = progress()
  let records = 0
  const onRecords = (count: number) => {
    records = count
    line.show(`${grouped(count)} records`)
  }
  const bytes = await withSource(config, say, signal, async db => {
    const asked = await askedOf(db, args, parameters, now)
    const { content } = await openExport(db, { ...asked, onRecords, ended: signal, quota: alone(say) })
    return file === undefined
      ? print(content, signal)
      : (await writeFile(file, content, signal, 'asIs')).bytes
  })
    .catch(error => Promise.reject(asRefusal(error)))
    .finally(line.clear)
  if (bytes === null) return null
  const text = `Exported ${grouped(records)} records to ${file} (${size(bytes)}).`
  return { text, data: { file: file!, records, bytes } }
}

/** A command needs no disk quota. */
function alone(say: (line: string) => void): SpoolQuota {
  return { take: () => true, release() {}, say }
}

/** The options as the parameters of an export. */
function parametersOf(args: CommandArguments): Parameters {
  const { names, output = '' } = args
  const format = args.format ?? formats.find(name => output.toLowerCase().endsWith(`.${name}`))
  const all = { ...args, format, names: names && '1' }
  return new Map(
    exportParameters.flatMap((name): [string, string[]][] => {
      const text = all[name as keyof typeof all]
      return text === undefined ? [] : [[name, [text]]]
    }),
  )
}

async function askedOf(
  db: Database,
  args: CommandArguments,
  parameters: Parameters,
  now: Date,
): Promise<Pick<ExportContext, 'caller' | 'request'>> {
  const { id } = await findAccount(db, args)
  const catalog = await loadCatalog(db, resources, id)
  const schema = catalog.resources.get(args.resource!)
  if (!schema) {
    const known = [...catalog.resources.keys()].join(', ')
    throw new CommandRefusal(`There is no resource "${args.resource}". There are: ${known}.`)
  }
  const caller = { catalog, actor: serviceActor }
  const request = await resolveNames(db, caller, names =>
    readExportQuery(parameters, schema, catalog, now.toISOString(), names),
  )
  return { caller, request }
}

/** The reader of a pipe may close it early, like `head`. */
async function print(content: Readable, signal: AbortSignal): Promise<null> {
  await pipeline(content, process.stdout, { signal, end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  return null
}
