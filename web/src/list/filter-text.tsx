/** A text editor for the filter, which shows the service's error at its position. */
import { useRef, useState } from 'react'
import { FilterError, parseFilter } from '../../../client/src/filter.ts'
import { callApi, DealwrightError, errorMessage } from '../api/api.ts'
import { Button, Cancel } from '../ui/button.tsx'
import { TextArea } from '../ui/inputs.tsx'
import { useIsGone, useLatest } from '../ui/use-latest.ts'

type FilterProblem = { readonly message: string; readonly position: number | null }

/** The problem of a filter, by the service's own check; null if it is valid. */
async function validateFilter(source: string, filter: string): Promise<FilterProblem | null> {
  try {
    parseFilter(filter)
    if (filter.trim())
      await callApi('GET', `/${source}/view/list`, {
        query: { filter, pageSize: 1, fields: 'id', count: 'none' },
      })
    return null
  } catch (error) {
    return filterProblemOf(error, filter)
  }
}

/** The problem of a filter, from an error that it caused. */
export function filterProblemOf(error: unknown, filter: string): FilterProblem {
  if (error instanceof FilterError) return { message: `${error.message}.`, position: error.position }
  const found =
    error instanceof DealwrightError
      ? error.problems.find(({ parameter }) => parameter === 'filter')
      : undefined
  if (!found) return { message: errorMessage(error), position: null }
  const message = [found.message, found.hint].filter(Boolean).join(' ')
  const at = found.field ? filter.indexOf(found.field) : -1
  const { position } = found as { position?: number }
  return { message, position: position ? position - 1 : at < 0 ? null : at }
}

export function FilterText(props: {
  source: string
  filter: string
  wrong: FilterProblem | null
  onChange: (filter: string) => void
  onClose: () => void
}) {
  const { source, filter, onChange, onClose } = props
  const [text, setText] = useState(filter)
  const [wrong, setWrong] = useState(props.wrong)
  const form = useRef<HTMLFormElement>(null)
  const latest = useLatest(text)
  const isGone = useIsGone()
  const apply = async () => {
    const found = await validateFilter(source, text)
    // An answer about a text that was typed on or given up meanwhile.
    if (isGone.current || latest.current !== text) return
    setWrong(found)
    if (!found) return onChange(text.trim())
    const area = form.current?.querySelector('textarea')
    area?.focus()
    if (found.position !== null) area?.setSelectionRange(found.position, found.position + 1)
  }
  return (
    <form
      ref={form}
      className="flex grow flex-col gap-2"
      onSubmit={event => {
        event.preventDefault()
        void apply()
      }}
    >
      <TextArea
        label="Filter as text"
        isLabelHidden
        autoFocus
        rows={1}
        spellCheck={false}
        value={text}
        error={wrong?.message}
        hint={!wrong && 'Such as title:like(renewal),deal_value:gt(5000). Commas mean “and”; or(…), not(…).'}
        onChange={typed => {
          setText(typed)
          setWrong(null)
        }}
        onKeyDown={event => {
          if (event.key === 'Escape') onClose()
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          void apply()
        }}
      />
      {wrong?.position != null && (
        <p className="text-sm break-all text-ink-soft">
          <span className="unseen">At character {wrong.position + 1}: </span>
          {text.slice(Math.max(0, wrong.position - 40), wrong.position)}
          <mark className="rounded-sm bg-lost-soft px-0.5 text-lost underline decoration-wavy">
            {text.slice(wrong.position, wrong.position + 12) || '…'}
          </mark>
        </p>
      )}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" isSmall>
          Apply
        </Button>
        <Cancel isSmall onPress={onClose} />
      </div>
    </form>
  )
}
