/** A form of any resource, from the sections of its field list: its fields, and their problems. */
import { type ReactNode, useId } from 'react'
import type { Field, Names } from '../../api/api.ts'
import { kindOf } from '../../fields/kinds.ts'
import { problemsWithin } from '../../fields/references/new-related.ts'
import { classes } from '../../ui/classes.ts'
import { freeAbove } from '../../ui/offsets.ts'
import { isWritable, type Problems, type Values } from './draft.ts'
import { isTechnical, technicalLast } from './technical-fields.ts'

/** From this width of its column on, a field has a line of its own. */
const wide = 200

/** Puts the focus into the input of a field, or of a member of a new related record within it. */
export function focusField(form: string, name: string): void {
  const [field, ...members] = name.split('.')
  const place = members.reduce<Element | null | undefined>(
    (found, member) => found?.querySelector(`[data-member="${member}"]`) ?? found,
    document.getElementById(`${form}-${field}`),
  )
  const folded = place?.closest('details')
  if (folded) folded.open = true
  const find = (what: string) => place?.querySelector<HTMLElement>(what)
  const input = find('[aria-invalid="true"]') ?? find('input, select, textarea, button')
  // A refusal may come before the form takes input again.
  if (input?.closest('fieldset:disabled')) {
    requestAnimationFrame(() => focusField(form, name))
    return
  }
  place?.scrollIntoView({ block: 'nearest' })
  input?.focus()
}

/** All problems at once, each a link to its field (WCAG 3.3.1). */
export function ProblemSummary(props: { form: string; problems: Problems; fields: readonly Field[] }) {
  const { form, problems, fields } = props
  const labels = new Map(fields.map(({ internal_name, field_name }) => [internal_name, field_name]))
  const entries = Object.entries(problems)
  if (entries.length === 0) return null
  return (
    <div role="alert" className="rounded-md border border-lost/40 bg-lost-soft px-3 py-2">
      <p className="font-medium text-lost">
        {entries.length === 1 ? 'Fix this problem:' : `Fix these ${entries.length} problems:`}
      </p>
      <ul className="list-disc pl-5">
        {entries.map(([name, text]) => {
          const label = labels.get(name.split('.')[0]!)
          return (
            <li key={name}>
              {label ? (
                <button
                  type="button"
                  className="min-h-6 text-left underline decoration-1 underline-offset-2"
                  onClick={() => focusField(form, name)}
                >
                  {text.includes(label) ? text : `${label}: ${text}`}
                </button>
              ) : (
                text
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

export function RecordForm(props: {
  form: string
  sections: readonly (readonly Field[])[]
  values: Values
  names?: Names | undefined
  problems: Problems
  /** True for shown fields */
  isShown: (field: Field) => boolean
  isRequired: (field: Field) => boolean
  onChange: (name: string, value: unknown) => void
  autoFocus?: string | undefined
  /** True if the sections have headings */
  hasHeadings: boolean
}) {
  const { form, sections, isShown, hasHeadings } = props
  const shown = technicalLast(sections)
    .map(section => section.filter(field => isWritable(field) && isShown(field)))
    .filter(section => section.length > 0)
  return (
    <div className="flex flex-col gap-6">
      {shown.map(section => {
        const title = section[0]!.section
        return (
          <Section
            key={isTechnical(section) ? 'technical' : title}
            title={hasHeadings ? title : null}
            isFolded={isTechnical(section)}
          >
            {section.map(field => (
              <div
                key={field.internal_name}
                id={`${form}-${field.internal_name}`}
                className={classes(
                  'min-w-0 has-[table]:col-span-full has-[.wide]:col-span-full',
                  kindOf(field).width >= wide && 'col-span-full',
                )}
              >
                <FieldInput {...props} field={field} />
              </div>
            ))}
          </Section>
        )
      })}
    </div>
  )
}

function Section(props: { title: string | null; isFolded: boolean; children: ReactNode }) {
  const { title, isFolded, children } = props
  const id = useId()
  const grid = 'grid gap-4 sm:grid-cols-2'
  if (!title) return <div className={grid}>{children}</div>
  if (isFolded)
    return (
      <details>
        <summary className="min-h-6 cursor-pointer font-semibold select-none">{title}</summary>
        <div className={`${grid} pt-4`}>{children}</div>
      </details>
    )
  return (
    <section aria-labelledby={id} className={grid}>
      <h3 id={id} className="col-span-full border-b border-line pb-1 font-semibold">
        {title}
      </h3>
      {children}
    </section>
  )
}

function FieldInput({
  field,
  values,
  names,
  problems,
  isRequired,
  onChange,
  autoFocus,
}: Parameters<typeof RecordForm>[0] & { field: Field }) {
  const name = field.internal_name
  const { Input } = kindOf(field)
  const isAsked = isRequired(field)
  return (
    <Input
      field={isAsked === field.is_required ? field : { ...field, is_required: isAsked }}
      label={field.field_name}
      value={values[name] ?? null}
      record={values}
      names={names?.[name]}
      error={problems[name]}
      errors={problemsWithin(problems, name)}
      autoFocus={autoFocus === name}
      onChange={value => onChange(name, value)}
    />
  )
}

/** The sticky buttons of a form in a dialog. */
export function FormFoot({ children }: { children: ReactNode }) {
  return (
    <div
      ref={freeAbove}
      className="sticky bottom-0 z-10 -mx-5 -mb-5 flex flex-wrap items-center gap-2 border-t border-line
        bg-raised px-5 py-3"
    >
      {children}
    </div>
  )
}
