/** All keys of this page, from the registry. */
import { Dialog } from '../ui/dialog.tsx'
import { Key } from '../ui/elements.tsx'
import { keyLabels, useRegistered } from './commands.ts'
import { usePreferences } from './preferences.ts'

export function KeySheet({ onClose }: { onClose: () => void }) {
  const { singleKeys } = usePreferences()
  const withKeys = useRegistered().filter(({ keys }) => keys)
  const groups = Map.groupBy(withKeys, ({ group }) => group)
  return (
    <Dialog title="Keys" isOpen onClose={onClose} width="wide">
      {!singleKeys && (
        <p className="mb-3 text-warn">Single keys are off: you can turn them on in your profile.</p>
      )}
      <div className="gap-8 sm:columns-2">
        {[...groups].map(([group, commands]) => (
          <section key={group} className="mb-4 break-inside-avoid">
            <h2 className="mb-1 text-sm text-ink-faint">{group}</h2>
            <dl>
              {commands.map(({ id, title, keys }) => (
                <div key={id} className="flex min-h-7 items-center justify-between gap-4">
                  <dt>{title}</dt>
                  <dd className="flex shrink-0 gap-1">
                    {keyLabels(keys!).map((key, index) =>
                      // biome-ignore lint/suspicious/noArrayIndexKey: a key may come twice
                      key === '/' ? <span key={index}>or</span> : <Key key={index}>{key}</Key>,
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
