/**
 * Unlinked temporary files: nobody else can open one, and it disappears when it is closed, even if the
 * process crashes. Knows no purpose.
 */
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from './errors.ts'

/**
 * Opens one for writing and reading; `purpose` is part of the path that the operating system shows for an
 * open file. Throws the file system's error.
 */
export async function openTemporary(purpose: 'export' | 'import'): Promise<FileHandle> {
  const path = join(tmpdir(), `dealwright-${purpose}-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/** Writes the whole chunk: one call of `write` may write less. */
export async function writeAt(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done)
    done += bytesWritten
  }
}

/** Runs `act`, which uses a temporary file. Throws `storage_unavailable` with the system's error as cause. */
export async function withStorageErrors<T>(act: () => Promise<T>): Promise<T> {
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
