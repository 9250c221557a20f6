/** What is pasted as a file to import: a file, or text as CSV. Knows no page. */
import { useEffect, useEffectEvent } from 'react'
import { typeOf } from './file-type.ts'

export type Pasted = {
  readonly file: File
  /** how many lines its text has; a file is none that was made of text */
  readonly lines?: number
  readonly delimiter?: string
}

/** A file that can be imported, else text, else whatever file there is. */
export function pastedFile(data: Pick<DataTransfer, 'files' | 'getData'>): Pasted | null {
  const files = [...data.files]
  // Spreadsheets give a picture of the cells besides their text.
  const known = files.find(({ name }) => typeOf(name))
  const text = data.getData('text/plain')
  if (!known && text.trim() !== '') return ofText(text)
  const file = known ?? files[0]
  return file ? { file } : null
}

function ofText(text: string): Pasted {
  const lines = text.split(/\r\n|\r|\n/).filter(line => line.trim() !== '')
  return {
    file: new File([text], 'Pasted cells.csv', { type: 'text/csv' }),
    lines: lines.length,
    // Cells that are copied have tabs between them, whatever else is in them.
    ...(lines[0]?.includes('\t') ? { delimiter: '\t' } : {}),
  }
}

/** Whatever takes the text that is pasted into it, and what lies over the page. */
const others = 'input:not([type="file"]), textarea, [contenteditable], [role="dialog"]'

/** Hears of what is pasted anywhere on the page; null: nothing that could be a file. */
export function usePasted(onPaste: (pasted: Pasted | null) => void): void {
  const take = useEffectEvent(onPaste)
  useEffect(() => {
    const heard = (event: ClipboardEvent) => {
      if (!event.clipboardData || (event.target as Element).closest?.(others)) return
      event.preventDefault()
      take(pastedFile(event.clipboardData))
    }
    document.addEventListener('paste', heard)
    return () => document.removeEventListener('paste', heard)
  }, [])
}
