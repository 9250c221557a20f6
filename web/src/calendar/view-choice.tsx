/** Chooses between week and month. */
import type { View } from './days.ts'

const views: readonly { readonly id: View; readonly name: string }[] = [
  { id: 'week', name: 'Week' },
  { id: 'month', name: 'Month' },
]

export function ViewChoice({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <fieldset className="flex overflow-hidden rounded-sm border border-line-strong/60 bg-surface">
      <legend className="unseen">View</legend>
      {views.map(({ id, name }) => (
        <label
          key={id}
          className="relative inline-flex min-h-8 items-center px-3 text-ink-soft hover:bg-hover
            has-checked:bg-accent-soft has-checked:font-medium has-checked:text-accent-strong
            has-focus-visible:outline-2 has-focus-visible:-outline-offset-2
            has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="calendar-view"
            checked={view === id}
            onChange={() => onChange(id)}
            className="absolute inset-0 cursor-pointer opacity-0"
          />
          {name}
        </label>
      ))}
    </fieldset>
  )
}
