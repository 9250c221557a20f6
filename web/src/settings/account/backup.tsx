/** Instructions for the operator's backup, which is done on the machine. */
import { Copy } from 'lucide-react'
import { IconButton } from '../../ui/button.tsx'
import { PageBody, PageHead, Panel } from '../../ui/page.tsx'
import { copyText } from '../../ui/toast.tsx'

export function Backup() {
  return (
    <>
      <PageHead title="Backup" />
      <PageBody>
        <Panel title="Make a backup" className="flex flex-col gap-3 p-4">
          <p>
            Whoever runs the service makes a backup on its machine, in its directory and with its settings.
            The service goes on meanwhile.
          </p>
          <Command text="npm run backup -- deals.backup" />
          <p className="text-ink-soft">
            The file has all accounts, records, events and configuration as they were at one moment, the
            hashes of tokens and the secrets of webhooks. Keep it as carefully as the database. It appears
            only when it is whole, and never replaces another.
          </p>
        </Panel>
        <Panel title="Restore one" className="flex flex-col gap-3 p-4">
          <p>Into a directory without a database:</p>
          <Command text="DATA_DIR=./restored npm run restore -- deals.backup" />
          <p>Or into an empty database on a PostgreSQL server:</p>
          <Command text="DATABASE_URL=postgres://… npm run restore -- deals.backup" />
          <p className="text-ink-soft">
            The whole file is checked first, and loaded in one transaction. A backup of an older version is
            brought up to date. The file <code>admin-token</code> in the directory of the data is not in a
            backup.
          </p>
        </Panel>
      </PageBody>
    </>
  )
}

function Command({ text }: { text: string }) {
  return (
    <div className="flex items-start gap-2 rounded-sm border border-line bg-sunken py-1 pr-1 pl-3">
      <code className="min-w-0 grow py-1.5 font-mono text-sm break-all">{text}</code>
      <IconButton label={`Copy: ${text}`} onPress={() => void copyText(text, 'Copied the command')}>
        <Copy size={14} aria-hidden />
      </IconButton>
    </div>
  )
}
