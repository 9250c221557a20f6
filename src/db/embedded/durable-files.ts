/**
 * The embedded engine's files. A flush of PostgreSQL returns after the fsync, and the files are private to
 * their owner. Owns the bridge from the engine's files to the system's. Knows nothing of SQL, locks or
 * threads.
 */
import * as fs from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { groupAndOthers, syncDirectory } from './disk.ts'

type FileNode = { readonly parent: FileNode }
type FileStream = { readonly node: FileNode; readonly fd: number; readonly nfd?: number }
type Attributes = { readonly mode?: number }
type HostFiles = {
  realPath(node: FileNode): string
  /** Runs a system call. Throws its error as one of the engine's. */
  tryFSOperation(act: () => void): void
  convertNodeCode(refusal: NodeJS.ErrnoException): number
  readonly node_ops: {
    mknod(parent: FileNode, name: string, mode: number, device: number): FileNode
    rename(node: FileNode, parent: FileNode, name: string): void
    unlink(parent: FileNode, name: string): void
    rmdir(parent: FileNode, name: string): void
    setattr(node: FileNode, attributes: Attributes): void
  }
  readonly stream_ops: {
    open(stream: FileStream): void
    setattr(stream: FileStream, attributes: Attributes): void
    fsync?: (stream: FileStream) => number
  }
}
type EngineFiles = { closeStream(descriptor: number): void }
type Init = NodeFS['init']

/**
 * Limit of the engine's open files. Connections must leave room for them. Some systems allow a process no
 * more than 256, of which Node.js needs some.
 */
export const engineFilesMax = 190

/** The shared buffers, 128 MB, are allocated at the start, used or not. */
const settings = { shared_buffers: '32MB', wal_sync_method: 'fsync', max_files_per_process: engineFilesMax }

/**
 * PGlite starts PostgreSQL with fsync off (-F) by default. Its fdatasync does nothing, hence the method that
 * calls fsync.
 */
export const durableStart = [
  ...PGlite.defaultStartParams.filter(parameter => parameter !== '-F'),
  ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
]

/** Error codes that are failures. Others, such as ENOENT, are ordinary answers. */
const refusals = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO', 'EROFS', 'EACCES', 'EPERM'])

/**
 * `NodeFS` with an fsync. An fsync that fails ends PostgreSQL, as it should: the engine must then be opened
 * again.
 */
export class DurableFiles extends NodeFS {
  /** number of files and directories flushed so far */
  fsyncs = 0
  /** the last error of the system, possibly the cause of a statement's failure */
  refusal: NodeJS.ErrnoException | undefined

  override async init(...args: Parameters<Init>): ReturnType<Init> {
    const result = await super.init(...args)
    result.emscriptenOpts.preRun?.push(module => {
      const files = module.NODEFS as unknown as HostFiles
      this.noteRefusals(files)
      this.addFsync(files)
      makePrivate(files)
      freeDescriptors(files, module.FS as unknown as EngineFiles)
    })
    return result
  }

  private noteRefusals(files: HostFiles): void {
    const { convertNodeCode } = files
    files.convertNodeCode = refusal => {
      if (refusals.has(refusal.code!)) this.refusal = refusal
      return convertNodeCode(refusal)
    }
  }

  private addFsync(files: HostFiles): void {
    const { mknod, rename, unlink, rmdir } = files.node_ops
    // The engine never opens a directory to flush it. So directories with new, moved or removed entries are
    // flushed with the next file.
    const changed = new Set<string>()
    const note = (directory: FileNode) => changed.add(files.realPath(directory))
    Object.assign(files.node_ops, {
      mknod(parent, ...rest) {
        note(parent)
        return mknod(parent, ...rest)
      },
      rename(node, parent, name) {
        // a file moved between directories leaves one of them
        note(node.parent)
        note(parent)
        rename(node, parent, name)
      },
      unlink(parent, name) {
        note(parent)
        unlink(parent, name)
      },
      rmdir(parent, name) {
        note(parent)
        rmdir(parent, name)
      },
    } satisfies Partial<HostFiles['node_ops']>)
    files.stream_ops.fsync = stream => {
      if (stream.nfd === undefined) note(stream.node)
      files.tryFSOperation(() => {
        if (stream.nfd !== undefined) fs.fsyncSync(stream.nfd)
        for (const directory of changed) syncDirectory(directory)
      })
      this.fsyncs++
      changed.clear()
      return 0
    }
  }
}

/** The engine creates files with mode 0666, and changes the mode only afterwards. */
function makePrivate({ node_ops, stream_ops }: HostFiles): void {
  const { mknod, setattr } = node_ops
  const own = <A extends Attributes>(attributes: A) =>
    attributes.mode === undefined ? attributes : { ...attributes, mode: attributes.mode & ~groupAndOthers }
  node_ops.mknod = (parent, name, mode, device) => mknod(parent, name, mode & ~groupAndOthers, device)
  node_ops.setattr = (node, attributes) => setattr(node, own(attributes))
  const setOpen = stream_ops.setattr
  stream_ops.setattr = (stream, attributes) => setOpen(stream, own(attributes))
}

/**
 * Closes the engine's own descriptor of a file that can't be opened. The engine would leak it, and has only
 * few.
 */
function freeDescriptors({ stream_ops }: HostFiles, engine: EngineFiles): void {
  const { open } = stream_ops
  stream_ops.open = stream => {
    try {
      open(stream)
    } catch (error) {
      engine.closeStream(stream.fd)
      throw error
    }
  }
}
