/** The buttons of a row, the same in every list of the settings. */
import { Pencil, Trash2 } from 'lucide-react'
import { type ButtonProps, IconButton } from '../ui/button.tsx'

type Props = Omit<ButtonProps, 'children' | 'name'> & { name: unknown }

export function EditButton({ name, ...props }: Props) {
  return (
    <IconButton label={`Edit ${name}`} {...props}>
      <Pencil size={14} aria-hidden />
    </IconButton>
  )
}

/** `verb` is the action, if it is not a deletion. */
export function DeleteButton({ name, verb = 'Delete', ...props }: Props & { verb?: string }) {
  return (
    <IconButton label={`${verb} ${name}`} {...props}>
      <Trash2 size={14} aria-hidden />
    </IconButton>
  )
}
