/**
 * The embedded engine's files, made durable: what PostgreSQL asks to be on the disk is on the disk when the call returns.
 * Owns the bridge from the engine's fsync to the system's. Knows nothing of SQL, locks or threads.
 */
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

type FileNode = { readonly parent: FileNode }
type FileStream = { readonly node: FileNode; readonly nfd?: number }
type NodeOperation = (node: FileNode, ...rest: never[]) => unknown
type HostFiles = {
  realPath(node: FileNode): string
  readonly node_ops: Record<'mknod' | 'rename' | 'unlink' | 'rmdir', NodeOperation>
  readonly stream_ops: { fsync?: (stream: FileStream) => number }
}
type Init = NodeFS['init']

/** How many files the engine may hold open: connections have to leave it that many. */
export const engineFilesMax = 500

/**
 * PGlite as published starts PostgreSQL with fsync off (-F). Its fdatasync does nothing, hence the method that calls fsync.
 */
export const durableStart = [
  ...PGlite.defaultStartParams.filter(parameter => parameter !== '-F'),
  ...['-c', 'wal_sync_method=fsync', '-c', `max_files_per_process=${engineFilesMax}`],
]

/** `NodeFS` with an fsync. An fsync that fails throws out of the engine, which must then be reopened, as PostgreSQL itself would. */
export class DurableFiles extends NodeFS {
  /** how many files and directories were written through so far */
  fsyncs = 0

  override async init(...args: Parameters<Init>): ReturnType<Init> {
    const result = await super.init(...args)
    result.emscriptenOpts.preRun?.push(module => this.addFsync(module.NODEFS as unknown as HostFiles))
    return result
  }

  private addFsync(files: HostFiles): void {
    // The engine never opens a directory to fsync it, so names made, moved or removed are written through with the next file.
    const changed = new Set<string>()
    for (const name of ['mknod', 'rename', 'unlink', 'rmdir'] as const) {
      const original = files.node_ops[name]
      files.node_ops[name] = (node, ...rest) => {
        const target = name === 'rename' ? (rest[0] as unknown as FileNode) : node
        changed.add(files.realPath(target))
        // a file moved between directories leaves one of them
        if (name === 'rename') changed.add(files.realPath(node.parent))
        return original(node, ...rest)
      }
    }
    files.stream_ops.fsync = stream => {
      if (stream.nfd === undefined) changed.add(files.realPath(stream.node))
      else fs.fsyncSync(stream.nfd)
      this.fsyncs++
      for (const directory of changed) syncDirectory(directory)
      changed.clear()
      return 0
    }
  }
}

/** Writes a directory's names through to the disk. A directory that is gone has nothing to write. */
export function syncDirectory(directory: string): void {
  let descriptor: number
  try {
    descriptor = fs.openSync(directory, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    // Windows cannot open a directory; its file systems journal names themselves.
    if (process.platform === 'win32') return
    throw error
  }
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Writes every file and directory below `directory`, and itself, through to the disk. */
export async function syncTree(directory: string): Promise<void> {
  const entries = await fs.promises.readdir(directory, { withFileTypes: true })
  await Promise.all(
    entries.map(async entry => {
      const name = path.join(directory, entry.name)
      if (entry.isDirectory()) return syncTree(name)
      const file = await fs.promises.open(name, 'r+')
      await file.sync().finally(() => file.close())
    }),
  )
  syncDirectory(directory)
}
