/** The bulk actions for the selected cards: those of tables, and a move. */
import { useEffect, useEffectEvent } from 'react'
import { closingWord } from '../api/stage-kind.ts'
import { useFields } from '../list/use-fields.ts'
import { BulkBar, FailuresDialog } from '../records/bulk/bulk-bar.tsx'
import type { BulkAction } from '../records/bulk/run-action.ts'
import { useBulk } from '../records/bulk/use-bulk.ts'
import { Button } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { toastError } from '../ui/toast.tsx'
import type { BoardRequest } from './board-query.ts'
import type { Column } from './model.ts'
import { showMoved } from './use-move.ts'
import type { BulkMove } from './use-moves.ts'

type Props = {
  request: BoardRequest
  ids: ReadonlySet<number>
  stages: readonly Column[]
  /** reason why nothing can be changed */
  mayNot: string | undefined
  /** reason why no card can be moved */
  reason: string | undefined
  /** a pending bulk move */
  order: BulkMove | null
  onTaken: () => void
  onMove: (stage: number) => void
  onClear: () => void
}

const names = { one: 'deal', many: 'deals', nameFields: ['title'] }

export function SelectionBar(props: Props) {
  const { request, ids, stages, mayNot, reason, order, onTaken, onMove, onClear } = props
  const fields = useFields('deal')
  const bulk = useBulk('deal', names)
  const run = async (action: BulkAction) => {
    const hasBegun = await bulk.run(action, {}, { isAll: false, ids })
    if (hasBegun) onClear()
    return hasBegun
  }
  const runMove = useEffectEvent(({ deals, stage, closing }: BulkMove) => {
    onTaken()
    if (bulk.progress) return toastError('Another change of several deals is under way: wait for its end.')
    const going = new Set(deals.map(({ id }) => id))
    const values = { pipeline_stage: stage.id, ...closing }
    // Refused moves go back when the board is refetched at the end; without a connection nothing is.
    const takeBack = showMoved(request, going, stage.id)
    void bulk.run({ type: 'change', values }, {}, { isAll: false, ids: going }).then(hasBegun => {
      if (!hasBegun) takeBack()
    })
  })
  useEffect(() => {
    if (order) runMove(order)
  }, [order])
  const entries = stages.map(({ id, name, kind }) => ({
    id: String(id),
    label: name,
    detail: closingWord(kind),
    act: () => onMove(id),
  }))
  return (
    <>
      <BulkBar
        {...{ fields, onClear }}
        reason={mayNot}
        resource="deal"
        request={{}}
        selection={{ isAll: false, ids }}
        total={ids.size}
        progress={bulk.progress}
        summed={fields.filter(({ internal_name }) => internal_name === 'deal_value')}
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
      {bulk.failures && <FailuresDialog failures={bulk.failures} onClose={() => bulk.setFailures(null)} />}
    </>
  )
}
