/** A program asks for access by OAuth (D170): who it is, where the answer goes, and what it may do. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { callApi, errorMessage } from '../api/api.ts'
import { useMe } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { ErrorMessage } from '../ui/error-message.tsx'
import { Select } from '../ui/inputs.tsx'

type Access = 'read' | 'write' | 'write_at_once'

type Asking = {
  readonly client: { readonly name: string; readonly host: string | null }
  readonly redirect_to: string
  readonly choices: readonly Access[]
  readonly asked_for: Access
  readonly deny: string
}

const names: { readonly [access in Access]: string } = {
  read: 'Read what you see',
  write: 'Read, and write after it has shown each change',
  write_at_once: 'Read, and write single records without asking',
}

const ends = [
  { id: '30', name: 'In 30 days' },
  { id: '90', name: 'In 90 days' },
  { id: '365', name: 'In a year' },
  { id: '', name: 'When you stop it' },
]

export function Connect() {
  const asked = useSearch({ from: '/signed-in/connect' })
  const { data, error } = useQuery({
    queryKey: ['authorization', asked],
    queryFn: () => callApi<Asking>('GET', '/authorization', { query: asked }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  useEffect(() => {
    document.title = 'Connect a program · Dealwright'
  }, [])
  return (
    <main className="flex min-h-dvh items-center justify-center bg-canvas p-4">
      <div className="w-full max-w-[440px] rounded-lg border border-line bg-surface p-6 shadow-float">
        <div className="mb-5 flex items-center gap-2.5">
          <img src="/favicon.svg" alt="" width={28} height={28} />
          <h1 className="text-xl font-semibold">Connect a program</h1>
        </div>
        {error && <ErrorMessage text={errorMessage(error)} />}
        {data && <Question asking={data} asked={asked} />}
      </div>
    </main>
  )
}

function Question({ asking, asked }: { asking: Asking; asked: object }) {
  const { client, choices, asked_for: wanted, deny } = asking
  const me = useMe()
  const [access, setAccess] = useState<Access>(choices.includes(wanted) ? wanted : choices.at(-1)!)
  const [days, setDays] = useState('90')
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const allow = async () => {
    setBusy(true)
    try {
      const body = { ...asked, access, days: days ? Number(days) : null }
      const { redirect } = await callApi<{ redirect: string }>('POST', '/authorization', { body })
      location.assign(redirect)
    } catch (error) {
      setProblem(errorMessage(error))
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-col gap-4">
      <p>
        <bdi className="font-semibold">{client.name}</bdi> wants to work in {me.account.name} for you,{' '}
        {me.user.name}.
      </p>
      <dl className="flex flex-col gap-2 rounded-sm border border-line p-3 text-sm">
        <Fact term="Who says so">{client.host ?? 'Nobody vouches for this name.'}</Fact>
        <Fact term="The answer goes to">{asking.redirect_to}</Fact>
      </dl>
      <Select
        label="It may"
        value={access}
        onChange={value => value && setAccess(value as Access)}
        choices={choices.map(id => ({ id, name: names[id] }))}
      />
      <Select label="This ends" value={days} onChange={value => setDays(value ?? '')} choices={ends} />
      <p className="text-sm text-ink-soft">
        It never sees or changes more than you may. You can stop it, and undo what it did, in Settings,
        Agents.
      </p>
      <ErrorMessage text={problem} />
      <div className="flex justify-end gap-2">
        <Button variant="quiet" onPress={() => location.assign(deny)}>
          Don’t allow
        </Button>
        <Button variant="primary" isPending={isBusy} onPress={() => void allow()}>
          Allow
        </Button>
      </div>
    </div>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap justify-between gap-x-4">
      <dt className="text-ink-soft">{term}</dt>
      <dd className="min-w-0 font-medium break-all">{children}</dd>
    </div>
  )
}
