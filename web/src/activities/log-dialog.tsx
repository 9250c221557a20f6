/** Logs what was done just now: a call, a meeting, an e-mail or a note, and plans what comes next. */
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useState } from 'react'
import type { AnyRecord } from '../api/api.ts'
import { pageQuery } from '../api/queries.ts'
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
import { saveLogged } from './log.ts'
import { MentionArea } from './mention-area.tsx'
import { addDays } from './next-days.ts'
import { NextStep, useNextStep } from './next-step.tsx'

export function LogDialog({ request, onClose }: { request: LogRequest; onClose: () => void }) {
  const [kind, setKind] = useState(request.kind)
  const [about, setAbout] = useState<About>(request.about)
  const [text, setText] = useState(request.text ?? '')
  return (
    <Dialog
      title={wordsOf(kind).title}
      detail={detailOf(request.about)}
      isOpen
      onClose={onClose}
      mayClose={() => text.trim() === '' || confirm('What you have typed is not saved. Close without it?')}
    >
      <LogForm
        {...{ request, kind, about, text, onClose }}
        onKind={setKind}
        onAbout={setAbout}
        onText={setText}
      />
    </Dialog>
  )
}

type FormProps = {
  request: LogRequest
  kind: LogKind
  about: About
  text: string
  onText: (text: string) => void
  onKind: (kind: LogKind) => void
  onAbout: (about: About) => void
  onClose: () => void
}

function LogForm({ request, kind, about, text, onKind, onAbout, onText, onClose }: FormProps) {
  const words = wordsOf(kind)
  const [outcome, setOutcome] = useState<number | null>(null)
  const saving = useSaveOnce()
  const { planned, isThis, setThis } = usePlanned(request, kind, about)
  const next = useNextStep(words.next, saving.isTried)
  const lacksText = kind === 'Note' && text.trim() === ''
  const log = async () => {
    const { step } = next
    await saving.save(mainOf(about) === null || lacksText || step === undefined, async key => {
      const done = outcome === null ? null : (words.outcomes[outcome] ?? null)
      const logged = { kind, about, outcome: done, text, planned: isThis ? planned : null, next: step! }
      await saveLogged(logged, key)
      onClose()
      if (request.onLogged) setTimeout(request.onLogged)
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
        !request.activity && (
          <RadioChips
            label="Kind"
            isLabelHidden
            hasNone={false}
            choices={logKinds.map(({ id }, index) => ({ id: index, name: id }))}
            value={logKinds.findIndex(({ id }) => id === kind)}
            onChange={index => {
              onKind(logKinds[index ?? 0]!.id)
              setOutcome(null)
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
          onChange={setOutcome}
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
      {planned && !request.activity && (
        <Checkbox
          label={`This was “${nameOf(planned)}”, which is planned`}
          checked={isThis}
          onChange={setThis}
        />
      )}
      <NextStep state={next} />
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
  const { data } = useQuery({
    ...pageQuery('activity', { filter, sort: 'due_at:asc' }, 1, 1),
    enabled: main !== null && kind !== 'Note' && !request.activity,
  })
  const found: AnyRecord | null = kind === 'Note' ? null : (data?.data[0] ?? null)
  return request.activity
    ? { planned: request.activity, isThis: true, setThis }
    : { planned: found, isThis, setThis }
}
