/**
 * A deal's stage where it is changed in a table: Won and Lost need a reason and a date first (rules 2, 3).
 */
import { queryClient, type Stage, stagesQuery } from '../api/queries.ts'

/** The stage that asks for more before it is saved; null where a change needs nothing else. */
export async function closingStage(resource: string, field: string, value: unknown): Promise<Stage | null> {
  if (resource !== 'deal' || field !== 'pipeline_stage') return null
  const stages = await queryClient.ensureQueryData(stagesQuery)
  const stage = stages.find(({ id }) => id === value)
  return stage && stage.kind !== 1 ? stage : null
}
