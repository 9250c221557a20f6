/**
 * Checks that the database folds case as the code does (D126). Every start checks it, because a server's
 * libraries change under its databases.
 */
import { smallOf } from '../fold.ts'
import type { Database } from './open.ts'
import { StartupError } from './startup-error.ts'

const letters = [...smallOf.keys(), ...smallOf.values()]

/**
 * Throws a StartupError that names some of the letters that the database folds in another way, and says what
 * to do.
 */
export async function requireFolding(db: Pick<Database, 'query'>): Promise<void> {
  const [row] = await db.query('SELECT fold($1::text) AS folded', [letters.map(between).join(' ')])
  const folded = row!.folded!.split(' ')
  const wrong = letters.filter((letter, index) => folded[index] !== between(smallOf.get(letter) ?? letter))
  if (wrong.length === 0) return
  throw new StartupError(
    `The database folds ${wrong.length} letters otherwise than this service (${wrong.slice(0, 5).join(', ')}…): its function fold was ` +
      'changed, or the libraries of its server were. Make a backup and restore it into a new database.',
  )
}

/** Some libraries also look at the neighbours of a letter. */
function between(letter: string): string {
  return `α${letter}\u0300`
}
