/**
 * Checks that the database folds texts as the code does (D126). Every start checks it, because an update of a
 * server's libraries can change it.
 */
import { bareOf, fold, lowered, smallOf, unseen } from '../fold.ts'
import type { Database } from './open.ts'
import { StartupError } from './startup-error.ts'

const letters = [
  ...[...smallOf].flat(),
  ...[...bareOf.keys()].filter(letter => letter.replace(unseen, '') !== ''),
]

/**
 * Throws a StartupError that names some of the letters that the database folds differently, and the remedy.
 */
export async function requireFolding(db: Pick<Database, 'query'>): Promise<void> {
  const given = letters.map(between)
  const [row] = await db.query(
    `SELECT string_agg(lowered(t), ' ' ORDER BY n) AS small, string_agg(fold(t), ' ' ORDER BY n) AS folded
     FROM json_array_elements_text($1::json) WITH ORDINALITY x (t, n)`,
    [JSON.stringify(given)],
  )
  const [small, folded] = [row!.small!.split(' '), row!.folded!.split(' ')]
  const wrong = letters.filter(
    (_, index) => small[index] !== lowered(given[index]!) || folded[index] !== fold(given[index]!),
  )
  if (wrong.length === 0) return
  throw new StartupError(
    `The database folds ${wrong.length} letters otherwise than this service (${wrong.slice(0, 5).join(', ')}…): its functions lowered and fold were ` +
      'changed, or the libraries of its server were. Make a backup and restore it into a new database.',
  )
}

/** Some libraries fold a letter by its neighbours, too. */
function between(letter: string): string {
  return `α${letter}\u0300`
}
