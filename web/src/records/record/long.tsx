/** What may be very long is cut, with a button that shows all of it. */
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'

const mostLetters = 500
const mostLines = 8

/** `text` is what is shown, in plain: it tells whether it is long. */
export function Long({ text, children }: { text: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const isLong = text.length > mostLetters || text.split('\n').length > mostLines
  if (!isLong) return children
  return (
    <>
      <div className={classes(!isOpen && 'max-h-40 overflow-hidden')}>{children}</div>
      <Button
        look="quiet"
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
