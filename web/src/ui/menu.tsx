/** A button with a menu, and the popover beside its trigger. */
import type { ReactNode } from 'react'
import {
  Menu as AriaMenu,
  Popover as AriaPopover,
  Header,
  MenuItem,
  MenuSection,
  MenuTrigger,
  type PopoverProps,
} from 'react-aria-components'
import { classes } from './classes.ts'

export type MenuEntry = {
  readonly id: string
  readonly label: string
  readonly icon?: ReactNode
  readonly detail?: string | undefined
  readonly isDisabled?: boolean
  readonly isDanger?: boolean
  readonly isChecked?: boolean
  readonly act: () => void
}

export type MenuGroup = { readonly title: string; readonly entries: readonly MenuEntry[] }

export function Popover({ className, ...props }: Omit<PopoverProps, 'className'> & { className?: string }) {
  return (
    <AriaPopover
      offset={6}
      {...props}
      className={classes(
        'floating z-50 overflow-auto rounded-md border border-line bg-raised p-1 shadow-float outline-none',
        className,
      )}
    />
  )
}

/** `children` is the button. */
export function Menu(props: {
  label: string
  groups: readonly MenuGroup[]
  children: ReactNode
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
}) {
  const { label, groups, children, ...state } = props
  return (
    <MenuTrigger {...state}>
      {children}
      <Popover className="max-h-96 min-w-52">
        <MenuList label={label} groups={groups} />
      </Popover>
    </MenuTrigger>
  )
}

export function MenuList(props: { label: string; groups: readonly MenuGroup[]; autoFocus?: boolean }) {
  const { label, groups, ...focus } = props
  const entries = new Map(groups.flatMap(group => group.entries.map(entry => [entry.id, entry])))
  const disabled = [...entries.values()].filter(entry => entry.isDisabled).map(({ id }) => id)
  return (
    <AriaMenu
      aria-label={label}
      // Default: the trigger decides; a key focuses the first entry.
      {...focus}
      onAction={key => entries.get(String(key))?.act()}
      disabledKeys={disabled}
      className="outline-none"
    >
      {groups.map(({ title, entries }) => (
        <MenuSection key={title} aria-label={title}>
          {groups.length > 1 && (
            <Header className="px-2 pt-2 pb-1 text-xs font-medium text-ink-faint">{title}</Header>
          )}
          {entries.map(entry => (
            <MenuItem
              key={entry.id}
              id={entry.id}
              textValue={entry.label}
              className={classes(
                'flex min-h-8 items-center gap-2 rounded-sm px-2 outline-none data-focused:bg-hover',
                'data-disabled:opacity-50',
                entry.isDanger && 'text-lost',
              )}
            >
              <span className="flex w-4 justify-center">{entry.isChecked ? '✓' : entry.icon}</span>
              <span className="grow">{entry.label}</span>
              {entry.detail && <span className="text-sm text-ink-faint">{entry.detail}</span>}
            </MenuItem>
          ))}
        </MenuSection>
      ))}
    </AriaMenu>
  )
}
