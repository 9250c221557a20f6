/** The fields of a record, in the sections of its form. */
import { ChevronRight } from 'lucide-react'
import { useId } from 'react'
import type { AnyRecord, Field } from '../../api/api.ts'
import { isEmpty, isWritable } from '../editing/draft.ts'
import { technical, technicalLast } from '../editing/technical-fields.ts'
import type { Save } from '../editing/use-record-save.tsx'
import { InlineField } from './inline-field.tsx'

export function Details(props: {
  sections: readonly (readonly Field[])[]
  record: AnyRecord
  save: Save
  reason: string | undefined
}) {
  const { sections, record, save, reason } = props
  return (
    <div className="flex flex-col gap-1">
      {technicalLast(sections).map(section => {
        // Empty read-only fields are left out.
        const shown = section.filter(
          field => field.is_active && (isWritable(field) || !isEmpty(record[field.internal_name])),
        )
        if (shown.length === 0) return null
        return (
          <Section
            key={section[0]!.section}
            title={section[0]!.section}
            isOpen={section[0]!.section !== technical && section.some(isWritable)}
          >
            {shown.map(field => (
              <InlineField key={field.internal_name} {...{ field, record, save, reason }} />
            ))}
          </Section>
        )
      })}
    </div>
  )
}

function Section(props: { title: string; isOpen: boolean; children: React.ReactNode }) {
  const { title, isOpen, children } = props
  const id = useId()
  return (
    <details open={isOpen} className="group border-b border-line pb-2 last:border-0">
      <summary
        className="flex min-h-9 cursor-pointer items-center gap-1.5 rounded-sm font-semibold
        select-none"
      >
        <ChevronRight
          size={14}
          aria-hidden
          className="text-ink-faint transition-transform group-open:rotate-90"
        />
        <h2 id={id} className="text-base">
          {title}
        </h2>
      </summary>
      <dl aria-labelledby={id} className="pl-5">
        {children}
      </dl>
    </details>
  )
}
