/** The selection of a table. It belongs to the list it was made in. */
import { useState } from 'react'
import { nothingSelected, type Selection } from './selection.ts'

/** `list` identifies the records of a list: other ones begin with none selected, whatever led to them. */
export function useSelection(list: string): [Selection, (selection: Selection) => void] {
  const [kept, setKept] = useState({ list, selection: nothingSelected })
  // While rendering, so that no row of the other list is shown selected even once.
  if (kept.list !== list) setKept({ list, selection: nothingSelected })
  const selection = kept.list === list ? kept.selection : nothingSelected
  return [selection, next => setKept({ list, selection: next })]
}
