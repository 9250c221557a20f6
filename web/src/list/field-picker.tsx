/** A list of fields to choose from, filtered by a part of their name. */
import {
  Autocomplete,
  Header,
  Input,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  SearchField,
  useFilter,
} from 'react-aria-components'
import type { Field } from '../api/api.ts'

/** The part of a field that the picker shows. */
type Listed = Pick<Field, 'internal_name' | 'field_name' | 'section'>

export function FieldPicker<F extends Listed>(props: {
  label: string
  fields: readonly F[]
  onPick: (field: F) => void
}) {
  const { label, fields, onPick } = props
  const { contains } = useFilter({ sensitivity: 'base' })
  const sections = [...Map.groupBy(fields, ({ section }) => section)]
  return (
    <Autocomplete filter={contains}>
      <SearchField aria-label={label} autoFocus className="p-1">
        <Input placeholder="Find a field…" className="field-box [&::-webkit-search-cancel-button]:hidden" />
      </SearchField>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by the keys */}
      <section aria-label="Fields" tabIndex={0} className="max-h-72 overflow-auto">
        <ListBox
          aria-label={label}
          className="outline-none"
          onAction={key => onPick(fields.find(({ internal_name }) => internal_name === key)!)}
          renderEmptyState={() => <p className="px-2 py-4 text-ink-soft">There is no such field.</p>}
        >
          {sections.map(([section, list]) => (
            <ListBoxSection key={section} aria-label={section}>
              <Header className="px-2 pt-2 pb-1 text-xs font-medium text-ink-faint">{section}</Header>
              {list.map(({ internal_name, field_name }) => (
                <ListBoxItem
                  key={internal_name}
                  id={internal_name}
                  textValue={field_name}
                  className="flex min-h-8 items-center rounded-sm px-2 outline-none data-focused:bg-hover"
                >
                  <span className="truncate" dir="auto">
                    {field_name}
                  </span>
                </ListBoxItem>
              ))}
            </ListBoxSection>
          ))}
        </ListBox>
      </section>
    </Autocomplete>
  )
}
