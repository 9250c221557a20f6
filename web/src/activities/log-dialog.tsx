/** Logs what was done just now: a call, a meeting, an e-mail or a note, and plans what comes next. */
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import type { AnyRecord } from '../api/api.ts'
import { pageQuery, queryClient } from '../api/queries.ts'
import { RadioChips } from '../fields/radio-chips.tsx'
import { nameOf } from '../fields/references/find-records.ts'
import { fromWall } from '../fields/zone.ts'
import { useFormat } from '../format/use-format.tsx'
import type { LogRequest } from '../shell/log-activity.tsx'
import { useMe } from '../shell/me.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Checkbox } from '../ui/inputs.tsx'
import { type About, detailOf, mainOf } from './about.ts'
import { ActivityForm, useSaveOnce } from './activity-form.tsx'
import { type LogKind, logKinds, wordsOf } from './kinds.ts'
import { type LogBatch, requestAfterChange, requestOfLogged, saveLogged } from './log.ts'
import { MentionArea } from './mention-area.tsx'
import { addDays } from './next-days.ts'
import { NextStep, type NextStepState, useNextStep } from './next-step.tsx'

export function LogDialog({ request, onClose }: { request: LogRequest; onClose: () => void }) {
  const [kind, setKind] = useState(request.kind)
  const [about, setAbout] = useState<About>(request.about)
  const [text, setText] = useState(request.text ?? '')
  const [outcome, setOutcome] = useState<number | null>(null)
  const saving = useSaveOnce<LogBatch>()
  const next = useNextStep(wordsOf(kind).next, saving.isTried)
  return (
    <Dialog
      title={wordsOf(kind).title}
      detail={detailOf(request.about)}
      isOpen
      onClose={onClose}
      isUnsaved={
        text.trim() !== '' ||
        outcome !== null ||
        next.step !== null ||
        mainOf(about) !== mainOf(request.about)
      }
    >
      <LogForm
        {...{ request, kind, about, text, outcome, saving, next, onClose }}
        onKind={setKind}
        onAbout={setAbout}
        onText={setText}
        onOutcome={setOutcome}
      />
    </Dialog>
  )
}

type FormProps = {
  request: LogRequest
  kind: LogKind
  about: About
  text: string
  outcome: number | null
  saving: ReturnType<typeof useSaveOnce<LogBatch>>
  next: NextStepState
  onText: (text: string) => void
  onOutcome: (outcome: number | null) => void
  onKind: (kind: LogKind) => void
  onAbout: (about: About) => void
  onClose: () => void
}

function LogForm(props: FormProps) {
  const { request, kind, about, text, outcome, saving, next } = props
  const { onKind, onAbout, onText, onOutcome, onClose } = props
  const words = wordsOf(kind)
  const planned = usePlanned(request, kind, about)
  const lacksText = kind === 'Note' && text.trim() === ''
  const log = async () => {
    const { step } = next
    const done = outcome === null ? null : (words.outcomes[outcome] ?? null)
    const typed = { kind, about, outcome: done, text, next: step! }
    await saving.save(mainOf(about) === null || lacksText || step === undefined, {
      said: { ...typed, isThis: planned.isThis },
      make: async () =>
        requestOfLogged({ ...typed, planned: await planned.read() }, new Date().toISOString()),
      send: async (batch, key) => {
        await (request.addNote ? request.addNote(text) : saveLogged(batch, key))
        onClose()
        if (request.onLogged) setTimeout(request.onLogged)
      },
      instead: (batch, refusal) => requestAfterChange(batch, refusal, new Date().toISOString()),
    })
  }
  /** Enter saves what is a line; a note has several. */
  const byEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || kind === 'Note') return
    event.preventDefault()
    void log()
  }
  const hasSubject = mainOf(request.about) !== null
  return (
    <ActivityForm
      {...{ about, onAbout, saving }}
      given={request.about}
      onSave={log}
      head={
        !request.activity &&
        !request.addNote && (
          <RadioChips
            label="Kind"
            isLabelHidden
            hasNone={false}
            choices={logKinds.map(({ id }, index) => ({ id: index, name: id }))}
            value={logKinds.findIndex(({ id }) => id === kind)}
            onChange={index => {
              onKind(logKinds[index ?? 0]!.id)
              onOutcome(null)
            }}
          />
        )
      }
      actions={
        <>
          <Cancel onPress={onClose} />
          <Button type="submit" variant="primary" reason={saving.reason} isPending={saving.isSaving}>
            {words.action}
          </Button>
        </>
      }
    >
      {words.outcomes.length > 0 && (
        <RadioChips
          label="Outcome"
          autoFocus={hasSubject}
          choices={words.outcomes.map((name, index) => ({ id: index, name }))}
          value={outcome}
          onChange={onOutcome}
        />
      )}
      <MentionArea
        subjects={about}
        label={words.label}
        rows={kind === 'Note' ? 3 : 1}
        value={text}
        onChange={onText}
        onKeyDown={byEnter}
        isRequired={kind === 'Note'}
        autoFocus={hasSubject && words.outcomes.length === 0}
        error={saving.isTried && lacksText ? 'Write the note.' : undefined}
      />
      {planned.isAsked && (
        // Its line is there before the answer, so that nothing below it moves when that comes.
        <div className="flex min-h-6">
          {planned.found && (
            <Checkbox
              label={`This was “${nameOf(planned.found)}”, which is planned`}
              checked={planned.isThis}
              onChange={planned.setThis}
            />
          )}
        </div>
      )}
      {!request.addNote && <NextStep state={next} />}
    </ActivityForm>
  )
}

/** The planned activity of this kind that is due by tonight: it is usually the one that was done. */
function usePlanned(request: LogRequest, kind: LogKind, about: About) {
  const format = useFormat()
  const me = useMe()
  const main = mainOf(about)
  const [isThis, setThis] = useState(true)
  const tonight = fromWall(`${addDays(format.today(), 1)}T00:00`, format.timeZone)
  const filter = [
    ...(main ? [`${main}:eq(${about[main]!.id})`] : []),
    `owner:eq(${me.user.id})`,
    `kind:eq(${kind})`,
    'done_at:isnull(true)',
    `due_at:lt(${tonight})`,
  ].join()
  const query = pageQuery('activity', { filter, sort: 'due_at:asc' }, 1, 1)
  const isAsked = main !== null && kind !== 'Note' && !request.activity
  const { data } = useQuery({ ...query, enabled: isAsked })
  /** Waits for an answer that is under way; without one, what was done was not planned. */
  const read = async (): Promise<AnyRecord | null> => {
    if (request.activity) return request.activity
    if (!isAsked || !isThis) return null
    const answer = data ?? (await queryClient.fetchQuery(query).catch(() => null))
    return answer?.data[0] ?? null
  }
  return { found: (isAsked && data?.data[0]) || null, isAsked, isThis, setThis, read }
}
