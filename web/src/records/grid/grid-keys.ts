/** The keys of a table's grid, for the key sheet; grid-events.ts and the cell editor handle them. */
import { keyHints } from '../../shell/commands.ts'

const always = [
  ['Move between cells', 'ArrowUp ArrowDown ArrowLeft ArrowRight'],
  ['To the edge of the table', 'mod+ArrowUp ArrowDown ArrowLeft ArrowRight'],
  ['First or last cell of the row', 'Home / End'],
  ['First or last cell of the table', 'mod+Home / mod+End'],
  ['A page down or up', 'PageDown / PageUp'],
  ['Select a range of cells', 'shift+ArrowUp ArrowDown ArrowLeft ArrowRight'],
  ['Copy the cells', 'mod+c'],
  ['Open the record, from its name', 'Enter'],
  ['Select the row', 'Space'],
  ['Select the rows from the last one', 'shift+Space'],
  ['Select all rows', 'mod+a'],
  ['Clear the selection', 'Escape'],
] as const
const ofGroups = [
  ['Select the rows of a group', 'Space'],
  ['Collapse a group, or open it', 'Enter'],
  ['Collapse a group', 'ArrowLeft'],
  ['Open a group', 'ArrowRight'],
] as const
const toChange = [
  ['Edit the cell', 'F2 / Enter'],
  ['Save, or cancel', 'Enter / Escape'],
  ['Save, and edit the next or previous cell', 'Tab / shift+Tab'],
  ['Paste cells', 'mod+v'],
] as const
const ofHead = [
  ['Sort by the column', 'Enter'],
  ['Add to the sort order', 'shift+Enter'],
  ['Narrower or wider', 'shift+ArrowLeft / shift+ArrowRight'],
  ['Move the column', 'mod+shift+ArrowLeft / mod+shift+ArrowRight'],
  ['Menu of the column', 'alt+ArrowDown'],
] as const

const everywhere = [...keyHints('Table', always), ...keyHints('Groups of a table', ofGroups)]

export const keysToRead = [...everywhere, ...keyHints('Column header', ofHead)]
export const keysToWrite = [
  ...everywhere,
  ...keyHints('Editing cells', toChange),
  ...keyHints('Column header', ofHead),
]
