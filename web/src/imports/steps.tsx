/** The steps of an import, each with its own address. */
import { Link, useNavigate } from '@tanstack/react-router'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { announce } from '../ui/toast.tsx'
import { saved } from './import.ts'

export const steps = [
  { id: 'file', title: 'File' },
  { id: 'columns', title: 'Columns' },
  { id: 'values', title: 'Values' },
  { id: 'duplicates', title: 'Duplicates' },
  { id: 'try', title: 'Try' },
  { id: 'run', title: 'Import' },
] as const

export type StepName = (typeof steps)[number]['id']

/** `id`: the import whose steps are links; without it none is, not yet or not any more. */
export function Steps({ current, id }: { current: StepName; id?: number | undefined }) {
  const at = steps.findIndex(step => step.id === current)
  const look = 'flex min-h-7 items-center gap-1.5 rounded-sm px-2'
  return (
    <nav aria-label="Steps of the import">
      <ol className="flex flex-wrap gap-1">
        {steps.map(({ id: step, title }, index) => {
          const inside = (
            <>
              <span className="text-xs tabular">{index + 1}</span> {title}
            </>
          )
          const isLink = id !== undefined && index > 0 && index < 5 && index !== at
          return (
            <li key={step} aria-current={index === at ? 'step' : undefined}>
              {isLink ? (
                <Link
                  to="/import/$id"
                  params={{ id: String(id) }}
                  search={{ step }}
                  className={`${look} text-ink-soft hover:bg-hover hover:text-ink`}
                >
                  {inside}
                </Link>
              ) : (
                <span
                  className={classes(
                    look,
                    index === at ? 'bg-accent-soft font-medium text-accent-strong' : 'text-ink-faint',
                  )}
                >
                  {inside}
                </span>
              )}
            </li>
          )
        })}
      </ol>
    </nav>
  )
}

/** Goes to a step once all changes are saved; its heading gets the focus, as on a new page. */
export function useGo(id: number): (step: StepName) => void {
  const navigate = useNavigate()
  return async step => {
    if (!(await saved(id))) return
    await navigate({ to: '/import/$id', params: { id: String(id) }, search: { step } })
    focusHeading()
  }
}

/** The heading of the step gets the focus, and is read out. */
export function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('#content h2')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus()
  announce(heading.textContent ?? '')
}

/** The buttons to the next and the previous step. */
export function StepActions(props: { id: number; back?: StepName; next: StepName; nextText?: string }) {
  const { id, back, next, nextText = 'Next' } = props
  const go = useGo(id)
  return (
    <div className="flex flex-wrap justify-end gap-2">
      {back && <Button onPress={() => go(back)}>Back</Button>}
      <Button variant="primary" onPress={() => go(next)}>
        {nextText}
      </Button>
    </div>
  )
}
