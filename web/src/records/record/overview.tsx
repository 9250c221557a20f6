/** The fields of a record: people and money first, then the sections of its form, and its details folded. */
import { ChevronRight } from 'lucide-react'
import { useId } from 'react'
import { classes } from '../../ui/classes.ts'
import { isEmpty, isWritable } from '../editing/draft.ts'
import { isTechnical, technicalLast } from '../editing/technical-fields.ts'
import type { Save } from '../editing/use-record-save.tsx'
import { ChannelLinks, useChannels } from './channels.tsx'
import { designedSections } from './design.ts'
import { InlineField } from './inline-field.tsx'
import type { ShownRecord } from './use-record.ts'

type Props = { shown: ShownRecord; save: Save; reason: string | undefined }

/** `isFramed`: it stands beside the tabs, and is none of them. */
export function Overview({ shown, save, reason, isFramed }: Props & { isFramed: boolean }) {
  const { resource, record, sections } = shown
  return (
    <div
      className={classes(
        'flex min-w-0 flex-col gap-1 self-start',
        isFramed && 'rounded-lg border border-line bg-surface px-3 py-1',
      )}
    >
      {technicalLast(designedSections(resource, sections)).map(section => {
        // Empty read-only fields are left out.
        const listed = section.filter(
          field => field.is_active && (isWritable(field) || !isEmpty(record[field.internal_name])),
        )
        if (listed.length === 0) return null
        const title = section[0]!.section
        return (
          <Section
            key={isTechnical(section) ? 'technical' : title}
            title={title}
            isOpen={!isTechnical(section) && section.some(isWritable)}
          >
            {listed.map(field => (
              <InlineField key={field.internal_name} {...{ field, record, save, reason }}>
                {field.internal_name === 'primary_contact' && <ContactLinks shown={shown} />}
              </InlineField>
            ))}
          </Section>
        )
      })}
    </div>
  )
}

/** A press calls a deal's primary contact, or writes to them. */
function ContactLinks({ shown: { resource, record } }: Pick<Props, 'shown'>) {
  return <ChannelLinks channels={useChannels(resource, record)} />
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
      <dl aria-labelledby={id} className="pl-5 max-sm:pl-1">
        {children}
      </dl>
    </details>
  )
}
