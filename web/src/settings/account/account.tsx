/** The account: its name, the formats of dates and numbers, and the currency of its reports. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, base, callApi, type Schemas } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Loading } from '../../shell/load-error.tsx'
import { useMe } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { Select, TextField } from '../../ui/inputs.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { DialogForm } from '../dialogs.tsx'
import { recordsQuery } from '../record-table.tsx'
import { useSaving } from '../saving.ts'
import { DatesForm } from './dates-form.tsx'

type Input = Schemas['account_input']

const change = (body: Input) => callApi('PATCH', '/account', { body })

export function Account() {
  return (
    <>
      <PageHead title="Account" />
      <PageBody>
        <Name />
        <Shown />
        <BaseCurrency />
      </PageBody>
    </>
  )
}

function Name() {
  const { account } = useMe()
  const [name, setName] = useState(account.name)
  const { problems, isBusy, save } = useSaving(['name'])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void save(() => change({ name }), 'Name saved')
  }
  return (
    <Panel title="Name" detail={`Account ${account.id}`} className="p-4">
      <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
        <TextField label="Name of the account" value={name} onChange={setName} error={problems.name} />
        <ErrorMessage text={problems['']} />
        <Button
          type="submit"
          className="self-start"
          isPending={isBusy}
          reason={name.trim() === account.name ? 'This is its name.' : undefined}
        >
          Save the name
        </Button>
      </form>
    </Panel>
  )
}

function Shown() {
  const { account } = useMe()
  return (
    <Panel
      title="Dates and numbers"
      detail="For everybody who chose nothing else in their profile. Days begin and end in the time zone."
      className="p-4"
    >
      <DatesForm
        saved={{ locale: account.locale, time_zone: account.time_zone }}
        noLocale="Browser language"
        onSave={({ time_zone, ...dates }) => change({ ...dates, ...(time_zone ? { time_zone } : {}) })}
      />
    </Panel>
  )
}

function BaseCurrency() {
  const { account } = useMe()
  const read = useQuery(recordsQuery('currency', 'code:asc'))
  const [wanted, setWanted] = useState<{ readonly id: number; readonly code: string } | null>(null)
  const rated = read.data?.filter(({ id, rate }) => rate !== null || id === account.base_currency)
  const choose = (id: string | null) => {
    const chosen = rated?.find(currency => String(currency.id) === id)
    if (chosen && chosen.id !== account.base_currency) setWanted({ id: chosen.id, code: String(chosen.code) })
  }
  return (
    <Panel
      title="Reports"
      detail="Sums over several currencies, the forecast and the funnel are shown in the base currency."
      className="flex flex-col gap-2 p-4"
    >
      {rated ? (
        <Select
          label="Base currency"
          value={String(account.base_currency)}
          onChange={choose}
          choices={rated.map(({ id, code, name }) => ({ id: String(id), name: `${code} · ${name}` }))}
        />
      ) : (
        <Loading of={[read]} className="h-14" />
      )}
      <p>
        <Link to="/settings/$page" params={{ page: 'currencies' }} className="linked">
          Add the rate of another currency
        </Link>
      </p>
      {wanted && <ChangeOfBase wanted={wanted} onClose={() => setWanted(null)} />}
    </Panel>
  )
}

/** Shows the counts of a dry run before the change. */
function ChangeOfBase(props: {
  wanted: { readonly id: number; readonly code: string }
  onClose: () => void
}) {
  const { wanted, onClose } = props
  const format = useFormat()
  const { problems, isBusy, save } = useSaving(['base_currency'])
  const body = { base_currency: wanted.id }
  const read = useQuery({
    queryKey: ['base-currency', wanted.id],
    queryFn: async () => {
      const reply = await api.request('PATCH', `${base}/account`, { body, query: { dry_run: 1 } })
      return (reply.body as { meta: Schemas['account_meta'] }).meta.recalculated!
    },
    gcTime: 0,
  })
  const counted = read.data
  const submit = async () => {
    if (!counted) return read.refetch()
    if (await save(() => change(body), `${wanted.code} is the base currency now`)) onClose()
  }
  const items = counted && [
    [counted.rates, 'rates are converted'],
    [counted.open_deals, 'open deals get their amount in it by the rates of today'],
    [counted.products, 'products do, too'],
    [counted.closed_deals, 'closed deals keep the rate of the day they were closed'],
  ]
  return (
    <Dialog title={`Make ${wanted.code} the base currency?`} isOpen onClose={onClose}>
      <DialogForm
        action={`Change to ${wanted.code}`}
        draft={wanted.id}
        isBusy={isBusy || (!counted && read.isFetching)}
        problem={problems.base_currency ?? problems['']}
        onCancel={onClose}
        onSave={() => void submit()}
      >
        {items ? (
          <ul className="flex flex-col gap-1">
            {items.map(([count, does]) => (
              <li key={does}>
                <span className="tabular font-medium">{format.number(Number(count))}</span> {does}
              </li>
            ))}
          </ul>
        ) : (
          <Loading of={[read]} className="h-20" />
        )}
      </DialogForm>
    </Dialog>
  )
}
