/** The keys of a table's grid, for the sheet of keys; grid-events.ts and the editor hear them. */
import { heardKeys } from '../../shell/commands.ts'

const always = [
  ['Go from cell to cell', 'ArrowUp ArrowDown ArrowLeft ArrowRight'],
  ['To the edge of the table', 'mod+ArrowUp ArrowDown ArrowLeft ArrowRight'],
  ['First or last cell of the row', 'Home / End'],
  ['First or last cell of the table', 'mod+Home / mod+End'],
  ['A page down or up', 'PageDown / PageUp'],
  ['Mark a range of cells', 'shift+ArrowUp ArrowDown ArrowLeft ArrowRight'],
  ['Copy the cells', 'mod+c'],
  ['Open the record, from its name', 'Enter'],
  ['Select the row', 'Space'],
  ['Select the rows from the last one', 'shift+Space'],
  ['Select all rows', 'mod+a'],
  ['Unmark the cells, select nothing', 'Escape'],
] as const
const toChange = [
  ['Change the cell', 'F2 / Enter'],
  ['Save it, or leave it as it was', 'Enter / Escape'],
  ['Save it, and change the next or former', 'Tab / shift+Tab'],
  ['Paste cells', 'mod+v'],
] as const
const ofHead = [
  ['Sort by the column', 'Enter'],
  ['Sort by it besides', 'shift+Enter'],
  ['Narrower or wider', 'shift+ArrowLeft / shift+ArrowRight'],
  ['Move the column', 'mod+shift+ArrowLeft / mod+shift+ArrowRight'],
  ['Menu of the column', 'alt+ArrowDown'],
] as const

export const keysToRead = [...heardKeys('Table', always), ...heardKeys('Head of a column', ofHead)]
export const keysToWrite = [
  ...heardKeys('Table', always),
  ...heardKeys('Cells that are changed', toChange),
  ...heardKeys('Head of a column', ofHead),
]
