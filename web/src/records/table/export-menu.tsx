/** Downloads the records that a table shows, in its order, as a file (D81). */
import { Download } from 'lucide-react'
import { base, type Field } from '../../api/api.ts'
import { may, useMe } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuEntry } from '../../ui/menu.tsx'

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
}

export function ExportMenu({ resource, fields, filter, sort }: Props) {
  const me = useMe()
  // Names need the scope to read their records.
  const seesNames = fields.every(({ related_field: to }) => !to || may(me, `${to.source}:read`))
  const entry = (format: string, label: string, names: '0' | '1'): MenuEntry => ({
    id: `${format} ${names}`,
    label,
    isDisabled: names === '1' && !seesNames,
    act: () => {
      const request = { format, names, sort, ...(filter ? { filter } : {}) }
      download(`${base}/${resource}/export?${new URLSearchParams(request)}`)
    },
  })
  const group = (title: string, names: '0' | '1') => ({
    title,
    entries: formats.map(({ format, label }) => entry(format, label, names)),
  })
  return (
    <Menu label="Export" groups={[group('With names', '1'), group('With ids, for programs', '0')]}>
      <Button variant="quiet" isSmall className="max-sm:hidden">
        <Download size={14} aria-hidden />
        Export
      </Button>
    </Menu>
  )
}

/** Makes the browser download an address, of any size; the response has the file name. */
function download(address: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = ''
  link.click()
}
