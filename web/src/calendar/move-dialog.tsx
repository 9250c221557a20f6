/** Moves an entry to a day and a time that are typed: for whoever can't drag. */
import { type FormEvent, useState } from 'react'
import { useFormat } from '../format/use-format.tsx'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { TextField } from '../ui/inputs.tsx'
import { clockOf } from './days.ts'
import { type Entry, type Slot, slotAfter } from './entries.ts'

export function MoveDialog(props: { entry: Entry; onMove: (to: Slot) => void; onClose: () => void }) {
  const { entry, onMove, onClose } = props
  const { timeZone } = useFormat()
  const now = slotAfter(entry.activity, 0, 0, timeZone)
  const [day, setDay] = useState(now.day)
  const before = now.minutes === null ? '' : clockOf(now.minutes)
  const [time, setTime] = useState(before)
  const [isTried, setTried] = useState(false)
  const save = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (day === '') return
    const [hours = 0, minutes = 0] = time.split(':').map(Number)
    onMove({ day, minutes: time === '' ? null : hours * 60 + minutes })
    onClose()
  }
  return (
    <Dialog
      title={`Move “${entry.title}”`}
      isOpen
      onClose={onClose}
      isUnsaved={day !== now.day || time !== before}
    >
      <form noValidate onSubmit={save} className="flex flex-col gap-4">
        <TextField
          label="Day"
          type="date"
          min="1000-01-01"
          max="9989-12-31"
          autoFocus
          isRequired
          value={day}
          onChange={setDay}
          error={isTried && day === '' ? 'Enter a day.' : undefined}
        />
        <TextField
          label="Time"
          type="time"
          hint={`In ${timeZone}. Without a time it is for the whole day.`}
          value={time}
          onChange={setTime}
        />
        <DialogActions>
          <Cancel onPress={onClose} />
          <Button type="submit" variant="primary">
            Move
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
