/** Downloads the records that a table shows, in its order, as a file (D81). */
import { Download } from 'lucide-react'
import { base, callApi, errorMessage, type Field } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuEntry, type MenuGroup } from '../../ui/menu.tsx'
import { toastError } from '../../ui/toast.tsx'
import { conditionsOf, countSelected, type Selection } from '../bulk/selection.ts'

const formats = [
  { format: 'csv', label: 'CSV' },
  { format: 'xlsx', label: 'Excel' },
  { format: 'jsonl', label: 'JSON lines' },
]

type Props = {
  resource: string
  fields: readonly Field[]
  filter: string
  sort: string
  selection: Selection
  /** number of matching records */
  count: number
}

/** An address and the headers of its request have at most 16 kB together. */
const lettersMax = 12_000

export function ExportMenu({ resource, fields, filter, sort, selection, count }: Props) {
  const me = useMe()
  const format = useFormat()
  // Names need the scope to read their records.
  const nameless = fields.find(({ related_field: to }) => to && !may(me, `${to.source}:read`))
  const group = (title: string, names: '0' | '1', filters: readonly string[]): MenuGroup => {
    // Several ids are separated by commas, which need no escape.
    const listed = filters.map(one => ['filter', one])
    const entry = ({ format, label }: (typeof formats)[number]): MenuEntry => {
      const request = new URLSearchParams([...Object.entries({ format, names, sort }), ...listed])
      const query = request.toString().replaceAll('%2C', ',')
      const isTooLong = query.length > lettersMax
      const isNameless = names === '1' && nameless !== undefined
      const reason = isNameless ? `Your role can’t read: ${nameless.field_name}` : undefined
      return {
        id: `${title} ${format}`,
        label,
        isDisabled: isNameless || isTooLong,
        detail: isTooLong ? 'Too many: use a filter' : reason,
        act: () => void exportRows(resource, query, { sort, filter: filters }),
      }
    }
    return { title, entries: formats.map(entry) }
  }
  const selected = countSelected(selection, count)
  const conditions = conditionsOf(selection, filter)
  const rows = `Selected rows (${format.number(selected)})`
  const [all, prefix] = [filter ? [filter] : [], selected > 0 ? 'All rows, with' : 'With']
  const groups = [
    ...(selected > 0
      ? [
          group(`${rows}, with names`, '1', conditions),
          group(`${rows}, with ids, for programs`, '0', conditions),
        ]
      : []),
    group(`${prefix} names`, '1', all),
    group(`${prefix} ids, for programs`, '0', all),
  ]
  return (
    <Menu label="Export" groups={groups}>
      <Button variant="quiet" isSmall className="max-sm:hidden">
        <Download size={14} aria-hidden />
        Export
      </Button>
    </Menu>
  )
}

/** Downloads an export. The page doesn't hear of a refused download: a small read is refused alike. */
async function exportRows(
  resource: string,
  query: string,
  rows: { sort: string; filter: readonly string[] },
): Promise<void> {
  try {
    const first = { ...rows, pageSize: 1, fields: 'id', count: 'none' }
    await callApi('GET', `/${resource}/view/list`, { query: first })
    download(`${base}/${resource}/export?${query}`)
  } catch (error) {
    toastError(`Nothing is exported. ${errorMessage(error)}`)
  }
}

/** Makes the browser download an address, of any size; the response has the file name. */
function download(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}
