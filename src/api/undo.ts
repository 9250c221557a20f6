/** POST /event/{seq}/undo: writes back what one change took (D83). */
import { oldestKept } from '../administration/background-jobs.ts'
import { undo } from '../events/undo.ts'
import { recordAnswer } from './answer.ts'
import { type WrittenDatabase, withDryRun } from './dry-run.ts'
import { undoAbout } from './event-abouts.ts'
import { readParameters } from './parameters.ts'
import { contextOf, idOf, preconditionOf } from './request.ts'
import { type AccountRoute, at } from './route.ts'

/** Which resource an event is of, and so which scope it takes, is known when it has been read. */
export function undoRoute(db: WrittenDatabase, retentionDays: number): AccountRoute {
  const handlers = withDryRun(db, db => ({
    undo: async request => {
      const precondition = preconditionOf(request)
      readParameters(request.query, [], [])
      const oldest = oldestKept(request.now, retentionDays)
      return recordAnswer(await undo(db, idOf(request), contextOf(request), precondition, oldest))
    },
  }))
  return at('POST', '/rest/api/v1/event/:id/undo', 'any', handlers.undo, undoAbout)
}
