/**
 * Temporary files without a name: nobody else finds one, and it is gone when it is closed, even by the end of
 * the process. Knows no purpose.
 */
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from './errors.ts'

/**
 * Opens one for writing and reading; `purpose` is a part of the path that the operating system tells of an
 * open file. Throws the file system's error.
 */
export async function openTemporary(purpose: 'export' | 'import'): Promise<FileHandle> {
  const path = join(tmpdir(), `dealwright-${purpose}-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Writes all of it: one call may write less. */
export async function writeAt(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done)
    done += bytesWritten
  }
}

/**
 * Does what needs a temporary file. Throws `storage_unavailable`, with the file system's reason as its cause.
 */
export async function kept<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Refusal || !(error instanceof Error) || !('syscall' in error)) throw error
    const detail = 'The service can keep no file at the moment, and its log has the reason. Try again later.'
    const refusal = new Refusal('storage_unavailable', detail, [], { 'retry-after': '60' })
    refusal.cause = error
    throw refusal
  }
}
