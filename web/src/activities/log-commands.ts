/** The commands that log what was done, about a record or about one that the form asks for. */
import { type Command, createWords, logWords } from '../shell/commands.ts'
import { openLog, openPlan } from '../shell/log-activity.tsx'
import type { About } from './about.ts'
import { type LogKind, logKinds } from './kinds.ts'

/** `keyOf` names the key of a kind, if it has one here. */
export function logCommands(
  group: string,
  about: () => About | null,
  keyOf: (kind: LogKind) => string | undefined,
): Command[] {
  const plan: Command = {
    id: `${group} plan`,
    title: 'Plan the next step',
    group,
    words: `${createWords} activity task call meeting follow-up reminder`,
    act: () => openPlan(about() ?? {}),
  }
  const logs = logKinds.map(({ id, title }) => {
    const keys = keyOf(id)
    return {
      id: `${group} log ${id}`,
      title,
      group,
      words: `${createWords} ${logWords}`,
      ...(keys ? { keys } : {}),
      act: () => openLog(id, about() ?? {}),
    }
  })
  return [...logs, plan]
}
