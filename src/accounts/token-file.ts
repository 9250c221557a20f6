/** The admin token of the first start, kept in the data directory for its owner alone (D38: mode 0600). */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const fileName = 'admin-token'

export async function keepToken(dataDir: string, token: string): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  await writeFile(join(dataDir, fileName), `${token}\n`, { mode: 0o600 })
}

/** The kept token, or null where there is none. */
export async function readToken(dataDir: string): Promise<string | null> {
  try {
    return (await readFile(join(dataDir, fileName), 'utf8')).trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
