/** All tools, in the order in which agents read them. */
import { describe } from './describe.ts'
import { history } from './history.ts'
import { get, list, search } from './read.ts'
import { report } from './report.ts'
import type { Tool } from './tool.ts'
import { undo } from './undo.ts'
import { create, logActivity, update } from './write.ts'

export const tools: readonly Tool[] = [
  ...[describe, search, list, get, report, history],
  ...[create, update, logActivity, undo],
]
