/** Truncates long content, with a button that shows all of it. */
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'

const mostLetters = 500
const mostLines = 8

/** `text` is the plain text of the content, to measure it. */
export function Truncated({ text, children }: { text: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const isLong = text.length > mostLetters || text.split('\n').length > mostLines
  if (!isLong) return children
  return (
    <>
      <div className={classes(!isOpen && 'max-h-40 overflow-hidden')}>{children}</div>
      <Button
        variant="quiet"
        isSmall
        aria-expanded={isOpen}
        onPress={() => setOpen(!isOpen)}
        className="pointer-events-auto mt-1 -ml-2"
      >
        {isOpen ? 'Show less' : 'Show all'}
      </Button>
    </>
  )
}
