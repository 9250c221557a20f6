/** The first step of an import: a file is chosen, dropped or pasted, and uploaded. */
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { FileUp } from 'lucide-react'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { errorMessage } from '../api/api.ts'
import { queryClient } from '../api/queries.ts'
import { upload } from '../api/upload.ts'
import { useFormat } from '../format/use-format.tsx'
import { jobKey, manyOf } from '../jobs/job.ts'
import { may, useMe, whoOf } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { EmptyState } from '../ui/elements.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { Select } from '../ui/inputs.tsx'
import { PageBody, PageHead, Panel } from '../ui/page.tsx'
import { announce, toast } from '../ui/toast.tsx'
import { accepted, typeOf } from './file-type.ts'
import { change, type Import, importable } from './import.ts'
import { onlyChoices } from './missing-fields.ts'
import { usePastedFile } from './pasted-file.ts'
import { instead, savedPlan } from './saved-plans.ts'
import { Steps } from './steps.tsx'

const route = getRouteApi('/shell/import')

export function NewImport() {
  const me = useMe()
  const allowed = may(me, 'import:write') ? importable.filter(one => may(me, `${one}:write`)) : []
  const { resource: requested } = route.useSearch()
  const resource = allowed.find(one => one === requested) ?? allowed[0]
  return (
    <main className="min-h-0 grow overflow-auto">
      <PageHead title={resource ? `Import ${manyOf(resource)}` : 'Import'} />
      {resource ? (
        <PageBody>
          <Steps current="file" />
          <ChooseFile resource={resource} allowed={allowed} />
        </PageBody>
      ) : (
        <EmptyState title="Your role may not import (it lacks import:write). An administrator can change that." />
      )}
    </main>
  )
}

/** Applies the saved plan of the last file with these columns; else unambiguous defaults. */
function begin(made: Import, who: string): void {
  const { values, defaults, formats, duplicates } = made
  const only = { ...defaults, ...onlyChoices(made) }
  const before = savedPlan(who, made)
  if (before) {
    change(made, {}, instead(before, made))
    const guess = instead({ mapping: null, values, defaults: only, formats, duplicates }, before)
    toast('The columns are mapped as in your last import of such a file.', {
      action: { label: 'Guess again', act: () => change(made, {}, guess) },
    })
  } else if (Object.keys(only).length > Object.keys(defaults).length) change(made, { defaults: only })
}

type Sent = { readonly name: string; readonly part: number }
type Written = { readonly delimiter?: string | null; readonly encoding?: string | null }

function ChooseFile({ resource, allowed }: { resource: string; allowed: readonly string[] }) {
  const me = useMe()
  const navigate = useNavigate()
  const format = useFormat()
  const [written, setWritten] = useState<Written>({})
  const [sent, setSent] = useState<Sent | null>(null)
  const [problem, setProblem] = useState<string>()
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const stop = useRef<AbortController>(null)
  // Leaving the page aborts the upload, so that it doesn't navigate later.
  useEffect(() => () => stop.current?.abort(), [])
  const send = async (file: File | undefined, { delimiter, encoding }: Written = written) => {
    if (!file || sent) return
    const type = typeOf(file.name)
    if (!type)
      return setProblem(
        `“${file.name}” is no such file. Choose one that ends in ${accepted.replaceAll(',', ', ')}.`,
      )
    if (file.size === 0) return setProblem(`“${file.name}” is empty.`)
    setProblem(undefined)
    setSent({ name: file.name, part: 0 })
    stop.current = new AbortController()
    const isText = type.format !== 'xlsx'
    const query = new URLSearchParams({
      ...{ resource, format: type.format, name: file.name.slice(-255) },
      ...(delimiter && type.format === 'csv' ? { delimiter } : {}),
      ...(encoding && isText ? { encoding } : {}),
    })
    try {
      const made = await upload<Import>(`/import?${query}`, file, type.mediaType, {
        signal: stop.current.signal,
        onProgress: part => setSent({ name: file.name, part }),
      })
      queryClient.setQueryData(jobKey(made.id), made)
      begin(made, whoOf(me))
      void queryClient.invalidateQueries({ queryKey: ['jobs'] })
      announce(`The file has arrived: ${format.counted(made.total ?? 0, 'row', 'rows')}.`)
      void navigate({ to: '/import/$id', params: { id: String(made.id) }, search: { step: 'columns' } })
    } catch (error) {
      setProblem(errorMessage(error))
      setSent(null)
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void send(event.dataTransfer.files[0])
  }
  usePastedFile(pasted => {
    if (sent) return
    if (!pasted) return setProblem('There is neither a file nor text in the clipboard.')
    const { file, lines, delimiter = written.delimiter ?? null } = pasted
    if (lines !== undefined)
      toast(`The pasted text was taken as a CSV file of ${format.counted(lines, 'line', 'lines')}.`, {
        isNews: true,
      })
    else if (typeOf(file.name)) toast(`The pasted file “${file.name}” was taken.`, { isNews: true })
    // Browsers paste text as UTF-8.
    void send(file, lines === undefined ? written : { delimiter, encoding: 'utf-8' })
  })
  return (
    <Panel
      title="Choose a file"
      detail="CSV, Excel or JSON lines. The first row has the names of the columns."
      className="flex flex-col gap-4 p-4"
    >
      <Select
        label="Record type"
        value={resource}
        disabled={sent !== null}
        onChange={next => next && void navigate({ to: '/import', search: { resource: next }, replace: true })}
        choices={allowed.map(id => ({ id, name: manyOf(id).replace(/^./, first => first.toUpperCase()) }))}
      />
      {sent ? (
        <Sending {...sent} onStop={() => stop.current?.abort()} />
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same
        <div
          onDragOver={event => {
            event.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
          className={classes(
            'flex flex-col items-center gap-3 rounded-md border border-dashed px-4 py-10 text-center',
            isOver ? 'border-accent bg-accent-soft' : 'border-line-strong',
          )}
        >
          <FileUp size={22} aria-hidden className="text-ink-soft" />
          <p className="text-ink-soft max-sm:hidden">Drop the file here, or</p>
          <Button variant="primary" onPress={() => input.current?.click()}>
            Choose a file…
          </Button>
          <input
            ref={input}
            type="file"
            accept={accepted}
            aria-label="File"
            tabIndex={-1}
            className="unseen"
            onChange={({ target }) => {
              void send(target.files?.[0])
              // The same file can be chosen again once it is fixed.
              target.value = ''
            }}
          />
          <p className="text-sm text-ink-faint">
            Or paste it here with Ctrl+V: a file, or cells that were copied in a spreadsheet.
          </p>
        </div>
      )}
      <ErrorMessage text={problem} />
      <WrittenAs written={written} onChange={changes => setWritten({ ...written, ...changes })} />
    </Panel>
  )
}

/** Delimiter and encoding, which the service detects unless they are set. */
function WrittenAs({ written, onChange }: { written: Written; onChange: (changes: Written) => void }) {
  return (
    <details>
      <summary className="min-h-6 cursor-pointer text-ink-soft">File format</summary>
      <div className="mt-3 grid gap-3 sm:grid-cols-2">
        <Select
          label="Delimiter"
          value={written.delimiter ?? null}
          onChange={delimiter => onChange({ delimiter })}
          none="Detect automatically"
          choices={[
            { id: ',', name: 'Comma' },
            { id: ';', name: 'Semicolon' },
            { id: '\t', name: 'Tab' },
            { id: '|', name: 'Vertical bar' },
          ]}
        />
        <Select
          label="Text encoding"
          value={written.encoding ?? null}
          onChange={encoding => onChange({ encoding })}
          none="Detect automatically"
          choices={[
            { id: 'utf-8', name: 'UTF-8' },
            { id: 'windows-1252', name: 'Windows 1252 (Western)' },
            { id: 'utf-16le', name: 'UTF-16' },
          ]}
        />
      </div>
    </details>
  )
}

/** After the last byte the service reads the file to its end, and answers. */
function Sending({ name, part, onStop }: Sent & { onStop: () => void }) {
  const format = useFormat()
  const isSent = part >= 1
  const status = isSent ? 'Uploaded. Reading the file…' : `${format.percent(Math.floor(part * 100))} sent`
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium" dir="auto">
        {name}
      </p>
      <progress
        aria-label={`Sending ${name}`}
        aria-valuetext={status}
        max={1}
        value={isSent ? undefined : part}
        className="h-2 w-full"
      />
      <div className="flex items-center gap-2">
        <span role="status" className="grow tabular text-ink-soft">
          {status}
        </span>
        <Button onPress={onStop}>Stop</Button>
      </div>
    </div>
  )
}
