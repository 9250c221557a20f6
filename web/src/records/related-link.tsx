/** A link to another record, for whoever may read it; for others only what it says. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classes } from '../ui/classes.ts'
import { readablePath } from './tables.ts'

export function RelatedLink(props: {
  resource: string
  id: number
  /** of the text too */
  className?: string
  children: ReactNode
}) {
  const { resource, id, className, children } = props
  const path = readablePath(resource, id)
  if (path === null)
    return (
      <span dir="auto" className={className}>
        {children}
      </span>
    )
  return (
    <Link to={path} dir="auto" className={classes('linked', className)}>
      {children}
    </Link>
  )
}
