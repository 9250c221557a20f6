/** An inline input of a note; other activities open their form. */
import { Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { About } from '../../activities/about.ts'
import { LogButtons } from '../../activities/log-buttons.tsx'
import { MentionArea } from '../../activities/mention-area.tsx'
import { addNote, useUnsavedNote } from '../../activities/notes.ts'
import { errorMessage } from '../../api/api.ts'
import { openPlan } from '../../shell/log-activity.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { byCtrlEnter } from '../../ui/keys.ts'
import { toast } from '../../ui/toast.tsx'

export function Composer({ about }: { about: About }) {
  const reason = useReadOnlyReason('activity')
  const [note, type] = useUnsavedNote(about)
  const [error, setError] = useState<string>()
  const [isSaving, setSaving] = useState(false)
  const add = async (event?: FormEvent) => {
    event?.preventDefault()
    if (isSaving || reason || note.trim() === '') return
    setSaving(true)
    try {
      await addNote(about, note)
      setError(undefined)
      toast('Note added.')
    } catch (failed) {
      setError(errorMessage(failed))
    } finally {
      setSaving(false)
    }
  }
  return (
    <form
      onSubmit={event => void add(event)}
      onKeyDown={byCtrlEnter(() => void add())}
      className="flex flex-col gap-2"
    >
      <MentionArea
        subjects={about}
        data-note
        label="Note"
        isLabelHidden
        placeholder="Write a note…"
        rows={2}
        value={note}
        onChange={type}
        error={error}
        disabled={reason !== undefined}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" isSmall isPending={isSaving} isDisabled={note.trim() === ''} reason={reason}>
          Add note
        </Button>
        <span className="grow" />
        <LogButtons about={about} reason={reason} />
        <Button
          variant="quiet"
          isSmall
          aria-label="Plan an activity"
          // The bar at the foot, or the line above, does the same.
          className="max-[899px]:hidden"
          reason={reason}
          onPress={() => openPlan(about)}
        >
          <Plus size={14} aria-hidden /> Plan
        </Button>
      </div>
    </form>
  )
}
