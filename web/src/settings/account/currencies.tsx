/** The active currencies, and their rates in the account's base currency. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { type AnyRecord, callApi } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe, useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Badge } from '../../ui/elements.tsx'
import { Select, TextField } from '../../ui/inputs.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { DialogForm } from '../dialogs.tsx'
import { numberIn } from '../number-input.ts'
import { RecordDialog } from '../record-dialog.tsx'
import { RecordTable, recordsQuery } from '../record-table.tsx'
import { isYes } from '../record-values.ts'
import { EditButton } from '../row-buttons.tsx'
import { useSaving } from '../saving.ts'
import { useOpenDialog } from '../use-open-dialog.ts'

type OpenDialog = { readonly how: 'add' } | { readonly how: 'edit'; readonly currency: AnyRecord } | null
type Sums = { 'sum:deal_value': { by_currency: { currency: number; currency_code: string | null }[] } }

export function Currencies() {
  const me = useMe()
  const { account } = me
  const reason = useReadOnlyReason('currency')
  const read = useQuery(recordsQuery('currency', 'code:asc'))
  const all = read.data
  const { data: sums } = useQuery({
    queryKey: ['sums', 'deal', 'currencies'],
    queryFn: () => callApi<Sums[]>('GET', '/deal/aggregate', { query: { measures: 'sum:deal_value' } }),
    enabled: may(me, 'deal:read'),
  })
  const [opened, setOpened] = useOpenDialog<OpenDialog>({ how: 'add' })
  const base = all?.find(({ id }) => id === account.base_currency)
  const isRated = ({ rate, is_active }: AnyRecord) => rate !== null && isYes(is_active)
  const used = new Set(
    sums?.flatMap(sum => sum['sum:deal_value'].by_currency.map(({ currency }) => currency)),
  )
  const shown = all?.filter(currency => isRated(currency) || used.has(currency.id))
  const isMissing = shown?.some(({ rate }) => rate === null)
  const close = () => setOpened(null)
  return (
    <>
      <PageHead title="Currencies">
        <Button variant="primary" reason={reason} onPress={() => setOpened({ how: 'add' })}>
          <Plus size={14} aria-hidden /> Add a rate
        </Button>
      </PageHead>
      <PageBody>
        <Panel
          title={base ? `Base currency: ${base.name} (${base.code})` : 'Base currency'}
          detail="Sums over several currencies are shown in it. A new rate is applied to open deals and to products; closed deals keep their amount."
        >
          {isMissing && (
            <p className="bg-warn-soft px-4 py-2 text-warn">
              Deals in a currency without a rate are missing in sums in {String(base?.code)}.
            </p>
          )}
          <RecordTable
            source="currency"
            label="Currencies with a rate"
            read={{ ...read, data: shown }}
            columns={['code', 'name', 'rate']}
            always={['rate']}
            cells={{
              code: currency => (
                <span className="flex flex-wrap items-center gap-x-2">
                  <span className="tabular">{String(currency.code)}</span>
                  {currency.id === account.base_currency && <Badge variant="accent">base</Badge>}
                  {!isYes(currency.is_active) && <Badge>inactive</Badge>}
                </span>
              ),
              rate: currency => <Rate currency={currency} base={base} />,
            }}
            actionsWidth="w-14"
            empty="No currency has a rate."
            actions={currency => (
              <EditButton
                name={currency.code}
                reason={reason}
                onPress={() => setOpened({ how: 'edit', currency })}
              />
            )}
          />
        </Panel>
        <p className="text-ink-soft">
          {all?.filter(({ is_active }) => isYes(is_active)).length ?? ''} currencies of ISO 4217 may be used
          in deals; those without a rate are not in this list.
        </p>
      </PageBody>
      {opened?.how === 'add' && (
        <Add base={base} currencies={all?.filter(currency => !isRated(currency)) ?? []} onClose={close} />
      )}
      {opened?.how === 'edit' && (
        <RecordDialog
          source="currency"
          names={['name', 'symbol', 'rate', 'is_active']}
          title={`Edit ${opened.currency.code}`}
          detail={`The rate is what 1 ${opened.currency.code} is worth in ${base?.code ?? 'the base currency'}.`}
          action="Save"
          message={({ code }) => `Saved ${code}`}
          record={opened.currency}
          onClose={close}
        />
      )}
    </>
  )
}

function Rate({ currency, base }: { currency: AnyRecord; base: AnyRecord | undefined }) {
  const format = useFormat()
  if (currency.rate === null)
    return (
      <span className="flex flex-wrap items-center gap-2">
        <Badge variant="warn">no rate</Badge>
        <Link
          to="/$table"
          params={{ table: 'deals' }}
          search={{ filter: `deal_value.currency:eq(${currency.code})` }}
          className="linked"
        >
          Its deals
        </Link>
      </span>
    )
  if (currency.id === base?.id) return <span className="tabular">1</span>
  return (
    <span className="tabular" title={`1 ${currency.code} in ${base?.code}`}>
      {format.number(Number(currency.rate))} {String(base?.code ?? '')}
    </span>
  )
}

function Add(props: { base: AnyRecord | undefined; currencies: readonly AnyRecord[]; onClose: () => void }) {
  const { base, currencies, onClose } = props
  const { locale } = useFormat()
  const [id, setId] = useState<string | null>(null)
  const [rate, setRate] = useState('')
  const { problems, isBusy, save, setProblems } = useSaving(['is_active', 'rate'])
  const chosen = currencies.find(currency => String(currency.id) === id)
  const add = async () => {
    if (!chosen) return setProblems({ is_active: 'Choose a currency.' })
    if (rate.trim() === '') return setProblems({ rate: 'Enter the rate.' })
    const body = { is_active: 'Yes', rate: numberIn(rate, locale) }
    const write = () => callApi('PATCH', `/currency/${chosen.id}`, { body })
    if (await save(write, `${chosen.code} has a rate now`)) onClose()
  }
  return (
    <Dialog title="Add a rate" isOpen onClose={onClose}>
      <DialogForm
        action="Add"
        draft={[id, rate]}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={() => void add()}
      >
        <Select
          label="Currency"
          isRequired
          value={id}
          none="Choose…"
          onChange={setId}
          choices={currencies.map(currency => ({
            id: currency.id,
            name: `${currency.code} · ${currency.name}`,
          }))}
          error={problems.is_active}
        />
        <TextField
          label={`What 1 ${chosen?.code ?? '…'} is worth in ${base?.code ?? 'the base currency'}`}
          isRequired
          inputMode="decimal"
          value={rate}
          onChange={setRate}
          error={problems.rate}
        />
      </DialogForm>
    </Dialog>
  )
}
