/** Reads a pasted file, or pasted text as CSV. Knows no page. */
import { useEffect, useEffectEvent } from 'react'
import { typeOf } from './file-type.ts'

type PastedFile = {
  readonly file: File
  /** number of lines, if it was made of pasted text */
  readonly lines?: number
  readonly delimiter?: string
}

/** A file that can be imported, else text, else any file. */
function pastedFile(data: Pick<DataTransfer, 'files' | 'getData'>): PastedFile | null {
  const files = [...data.files]
  // Spreadsheets put an image of the cells on the clipboard, too.
  const known = files.find(({ name }) => typeOf(name))
  const text = data.getData('text/plain')
  if (!known && text.trim() !== '') return ofText(text)
  const file = known ?? files[0]
  return file ? { file } : null
}

function ofText(text: string): PastedFile {
  const lines = text.split(/\r\n|\r|\n/).filter(line => line.trim() !== '')
  return {
    file: new File([text], 'Pasted cells.csv', { type: 'text/csv' }),
    lines: lines.length,
    // Copied cells are separated by tabs, whatever else they contain.
    ...(lines[0]?.includes('\t') ? { delimiter: '\t' } : {}),
  }
}

/** Elements that handle a paste themselves. */
const others = 'input:not([type="file"]), textarea, [contenteditable], [role="dialog"]'

/** Handles a paste anywhere on the page; null: nothing that could be a file. */
export function usePastedFile(onPaste: (pasted: PastedFile | null) => void): void {
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
