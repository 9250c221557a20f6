/** Links of the documentation: to other pages of it, to decisions by their numbers, and elsewhere. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

type Props = { href: string; className?: string; onClick?: () => void; children: ReactNode }

/** `href`: a path such as /docs/lists#operators, or an address elsewhere. */
export function DocLink({ href, className = 'text-accent underline', ...props }: Props) {
  const isPage = /^\/docs(\/|#|$)/.test(href)
  if (!isPage) return <a href={href} className={className} {...props} />
  const [path = '', hash] = href.split('#')
  return (
    <Link
      to={path as never}
      {...(hash ? { hash } : {})}
      activeOptions={{ exact: true }}
      className={className}
      {...props}
    />
  )
}

const decision = /\b(D\d{1,3})\b/

/** Text in which the numbers of decisions are links. */
export function Cited({ text }: { text: string }) {
  // The odd parts are what the expression captures.
  return text.split(decision).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a number may stand in a text twice
      <DocLink key={index} href={`/docs/decisions#${part}`}>
        {part}
      </DocLink>
    ),
  )
}

/** A sentence of the OpenAPI document: `code` and numbers of decisions. `codeHref` makes links of code. */
export function Sentence({ text, codeHref }: { text: string; codeHref?: (code: string) => string }) {
  return text.split(/`([^`]+)`/).map((part, index) => {
    // biome-ignore-start lint/suspicious/noArrayIndexKey: the parts have no other name
    if (index % 2 === 0) return <Cited key={index} text={part} />
    if (!codeHref) return <code key={index}>{part}</code>
    return (
      <DocLink key={index} href={codeHref(part)}>
        <code>{part}</code>
      </DocLink>
    )
    // biome-ignore-end lint/suspicious/noArrayIndexKey: the parts have no other name
  })
}
