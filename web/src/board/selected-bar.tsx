/** What can be done with the selected cards of a board: the bar that tables have, and a move. */
import { useState } from 'react'
import { useFields } from '../list/use-fields.ts'
import { BulkBar, FailuresDialog } from '../records/bulk-bar.tsx'
import { type Deed, useBulk } from '../records/use-bulk.ts'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { CloseDialog } from './close-dialog.tsx'
import type { Column } from './model.ts'

type Props = {
  ids: ReadonlySet<number>
  stages: readonly Column[]
  /** why nothing can be changed */
  reason: string | undefined
  onClear: () => void
}

const names = { one: 'deal', many: 'deals', nameField: 'title' }

export function SelectedBar({ ids, stages, reason, onClear }: Props) {
  const fields = useFields('deal')
  const bulk = useBulk('deal', names)
  const [closing, setClosing] = useState<Column | null>(null)
  const run = (deed: Deed) => {
    void bulk.run(deed, {}, { isAll: false, ids })
    onClear()
  }
  const move = (stage: Column) => {
    if (stage.kind === 1) run({ type: 'change', values: { pipeline_stage: stage.id } })
    else setClosing(stage)
  }
  const entries = stages.map(stage => ({
    id: String(stage.id),
    label: stage.name,
    detail: stage.kind === 2 ? 'won' : stage.kind === 3 ? 'lost' : undefined,
    act: () => move(stage),
  }))
  return (
    <>
      <BulkBar
        {...{ fields, reason, onClear }}
        resource="deal"
        asked={{}}
        selection={{ isAll: false, ids }}
        total={ids.size}
        progress={bulk.progress}
        quick={fields.filter(({ internal_name }) => internal_name === 'sales_owner')}
        onStop={bulk.stop}
        onRun={run}
      >
        {reason === undefined && (
          <Menu label="Move to" groups={[{ title: 'Stages', entries }]}>
            <Button>Move to…</Button>
          </Menu>
        )}
      </BulkBar>
      {closing && (
        <CloseDialog
          deal={{ title: `The same for all ${ids.size}` }}
          stage={closing}
          onClose={() => setClosing(null)}
          onClosed={more => {
            setClosing(null)
            run({ type: 'change', values: { pipeline_stage: closing.id, ...more } })
          }}
        />
      )}
      {bulk.failures && <FailuresDialog failures={bulk.failures} onClose={() => bulk.setFailures(null)} />}
    </>
  )
}
