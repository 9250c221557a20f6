/** The funnel of the deals that entered a pipeline in the period (D131). */
import { useQuery } from '@tanstack/react-query'
import { callApi, type Schemas } from '../../api/api.ts'
import { defaultPipeline, pipelinesQuery } from '../../api/queries.ts'
import { useFormat } from '../../format/use-format.tsx'
import { may, useMe } from '../../shell/me.ts'
import { Bars } from '../../ui/chart.tsx'
import { EmptyState } from '../../ui/elements.tsx'
import { Panel } from '../../ui/page.tsx'
import { NumberTable, useOpen, WhenLoaded } from './parts.tsx'
import { all, chosen, daysOf, dealsPath } from './periods-and-sums.ts'
import type { ReportProps } from './reports-page.tsx'
import { useBase } from './use-base.ts'

export function FunnelReport({ search, period, isTable }: ReportProps) {
  const format = useFormat()
  const base = useBase()
  const onOpen = useOpen()
  const mayChoose = may(useMe(), 'pipeline:read')
  const pipelines = useQuery({ ...pipelinesQuery, enabled: mayChoose })
  const { first, last } = daysOf(period)
  const { pipeline: _pipeline, ...others } = search
  const filter = all(...chosen(others))
  const usual = defaultPipeline(pipelines.data ?? [])
  const pipeline = search.pipeline ?? (usual && String(usual.id))
  const funnel = useQuery({
    queryKey: ['sums', 'deal', 'funnel', pipeline, first, last, filter],
    queryFn: ({ signal }) =>
      callApi<Schemas['funnel']>('GET', '/deal/funnel', {
        query: { pipeline, from: first, to: last, ...(filter ? { filter } : {}) },
        signal,
      }),
    enabled: pipeline !== undefined,
  })
  const percent = (share: number | null) => (share === null ? '—' : format.percent(share * 100))
  const days = (count: number | null) =>
    count === null ? '—' : `${format.number(Math.round(count * 10) / 10)} d`
  const inStage = (id: number) => all(`pipeline_stage:eq(${id})`, ...chosen(others))
  const won = all('status:eq(Won)', `pipeline:eq(${pipeline})`, ...chosen(others))
  return (
    <Panel
      className="p-4"
      title={funnel.data?.pipeline?.name ?? 'Funnel'}
      detail={`Deals that entered the pipeline from ${format.date(first)} to ${format.date(last)}, and how far they have come since. A link leads to the deals that are in the stage now.`}
    >
      <WhenLoaded of={pipeline ? [funnel] : mayChoose ? [pipelines] : []}>
        {() => {
          if (!pipeline && !mayChoose)
            return <EmptyState title="Your role can’t list pipelines. Open a link that names one." />
          if (!pipeline) return <EmptyState title="There is no pipeline yet." />
          const { stages, deals, won: wonCount, lost, since } = funnel.data!
          if (deals === 0) return <EmptyState title="No deal entered the pipeline in these months." />
          return (
            <>
              {isTable ? (
                <NumberTable
                  label="Funnel"
                  columns={['Stage', 'Entered', 'Went on', 'Conversion', 'Lost from it', 'Median days']}
                  rows={stages.map(stage => ({
                    id: String(stage.id),
                    name: stage.name,
                    cells: [
                      { text: format.number(stage.entered), filter: inStage(stage.id) },
                      { text: format.number(stage.went_on) },
                      { text: percent(stage.conversion) },
                      { text: format.number(stage.lost_from) },
                      { text: days(stage.median_days) },
                    ],
                  }))}
                />
              ) : (
                <Bars
                  label="Funnel"
                  isFunnel
                  onOpen={onOpen}
                  bars={[
                    ...stages.map(stage => ({
                      id: String(stage.id),
                      name: stage.name,
                      text: `${format.number(stage.entered)} · ${percent(stage.conversion)} went on`,
                      detail: [
                        stage.median_days !== null && `${days(stage.median_days)} in it`,
                        `${format.number(stage.lost_from)} lost from it`,
                      ]
                        .filter(Boolean)
                        .join(', '),
                      marks: [
                        {
                          value: stage.entered,
                          look: 'solid' as const,
                          name: `${stage.name}: ${format.number(stage.entered)} entered, ${percent(stage.conversion)} went on, ${format.number(stage.lost_from)} lost from it, median ${days(stage.median_days)}`,
                          href: dealsPath(inStage(stage.id)),
                        },
                      ],
                    })),
                    {
                      id: 'won',
                      name: 'Won',
                      text: format.number(wonCount),
                      detail: `${percent(wonCount / deals)} of all`,
                      marks: [
                        {
                          value: wonCount,
                          look: 'won' as const,
                          name: `Won: ${base.deals(wonCount)}, ${percent(wonCount / deals)} of all`,
                          href: dealsPath(won),
                        },
                      ],
                    },
                  ]}
                />
              )}
              <p className="mt-3 border-t border-line pt-3 text-ink-soft">
                {`${base.deals(deals)} entered; ${format.number(wonCount)} are won, ${format.number(lost)} lost, `}
                {`${format.number(deals - wonCount - lost)} still open or elsewhere.`}
                {since && ` The history begins on ${format.date(format.dateOf(since))}.`}
              </p>
            </>
          )
        }}
      </WhenLoaded>
    </Panel>
  )
}
