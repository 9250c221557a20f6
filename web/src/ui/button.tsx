/** Buttons: the main action (`primary`), others, those in rows (`quiet`), and icon buttons. */
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import {
  Button as AriaButton,
  type ButtonProps as AriaProps,
  Tooltip,
  TooltipTrigger,
} from 'react-aria-components'
import { classes } from './classes.ts'
import { toast } from './toast.tsx'

type Variant = 'primary' | 'plain' | 'quiet' | 'danger' | 'won'

export type ButtonProps = Omit<AriaProps, 'className' | 'children'> & {
  variant?: Variant
  /** reason why the button is disabled; it can be focused, and shows the reason, also when it is pressed */
  reason?: string | undefined
  isSmall?: boolean
  className?: string
  children?: ReactNode
}

const looks: { readonly [variant in Variant]: string } = {
  primary: 'bg-accent text-accent-ink font-medium data-hovered:bg-accent-strong',
  plain: 'border border-line-strong/60 bg-surface data-hovered:bg-hover',
  quiet: 'text-ink-soft data-hovered:bg-hover data-hovered:text-ink',
  danger: 'bg-lost text-surface font-medium data-hovered:brightness-110',
  won: 'bg-won text-surface font-medium data-hovered:brightness-110',
}

export function Button({
  variant = 'plain',
  reason,
  isSmall,
  className,
  onPress,
  isPending,
  children,
  ...props
}: ButtonProps) {
  // A pending button can't be pressed again, and keeps the focus. React Aria's own isPending would leave an
  // image without a name behind, which axe reports.
  const isIdle = reason === undefined && !isPending
  const disabled = useDisabled(reason)
  const button = (
    <AriaButton
      {...props}
      {...(isIdle && onPress ? { onPress } : {})}
      {...(isIdle ? {} : { 'aria-disabled': true, type: 'button' as const })}
      {...disabled}
      className={classes(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-sm whitespace-nowrap select-none',
        isSmall ? 'min-h-6 px-2 text-sm' : 'min-h-8 px-3',
        'data-disabled:opacity-55',
        looks[variant],
        reason && 'opacity-60',
        isPending && 'opacity-70',
        className,
      )}
    >
      {children}
    </AriaButton>
  )
  return reason ? <Tip text={reason}>{button}</Tip> : button
}

/**
 * The props of a button with the reason why it is disabled: a tooltip does not show at a touch, and is read
 * only while it is open.
 */
function useDisabled(reason: string | undefined) {
  const place = useRef<HTMLButtonElement>(null)
  // React Aria passes no aria-description on.
  useLayoutEffect(() => {
    if (reason) place.current?.setAttribute('aria-description', reason)
    else place.current?.removeAttribute('aria-description')
  }, [reason])
  if (!reason) return { ref: place }
  return { ref: place, 'aria-disabled': true, onPress: () => toast(reason, { isNews: true }) }
}

/** The Cancel button of a dialog or form: the same everywhere. */
export function Cancel({ children = 'Cancel', ...props }: Omit<ButtonProps, 'variant'>) {
  return (
    <Button {...props} variant="quiet">
      {children}
    </Button>
  )
}

/** An icon button; `label` is its name and its tooltip. */
export function IconButton({ label, children, className, ...props }: ButtonProps & { label: string }) {
  const disabled = useDisabled(props.reason)
  return (
    <Tip text={props.reason ?? label}>
      <AriaButton
        {...props}
        {...disabled}
        aria-label={label}
        className={classes(
          'inline-flex size-8 shrink-0 items-center justify-center rounded-sm text-ink-soft',
          'data-hovered:bg-hover data-hovered:text-ink data-disabled:opacity-50',
          props.reason && 'opacity-60',
          className,
        )}
      >
        {children}
      </AriaButton>
    </Tip>
  )
}

/** A tooltip on hover or focus. */
export function Tip({ text, children }: { text: string; children: ReactNode }) {
  return (
    <TooltipTrigger delay={500} closeDelay={80}>
      {children}
      <Tooltip
        offset={6}
        className="floating z-50 max-w-72 rounded-sm bg-ink px-2 py-1 text-sm text-canvas shadow-float"
      >
        {text}
      </Tooltip>
    </TooltipTrigger>
  )
}
