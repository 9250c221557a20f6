/** A page of text: a guide, the errors or the decisions. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { EmptyState } from '../ui/elements.tsx'
import { DocLink } from './doc-link.tsx'
import { DocPage } from './doc-page.tsx'
import { Markdown } from './markdown.tsx'
import { textQuery } from './texts.ts'

/** `name`: the address below /docs */
export function TextPage({ name }: { name: string }) {
  const { data: tokens } = useSuspenseQuery(textQuery(name))
  if (!tokens) return <NoSuchPage />
  const heading = tokens.find(token => token.type === 'heading')
  return (
    <DocPage title={heading?.type === 'heading' ? heading.text : 'Documentation'}>
      <Markdown tokens={tokens} {...(name === 'errors' ? { rowId: errorId } : {})} />
    </DocPage>
  )
}

/** The anchors of errors, to which `type` of a problem leads, and of the codes of problems. */
function errorId([first = '', second = '']: readonly string[]): string | undefined {
  const code = (cell: string) => /^`(\w+)`$/.exec(cell)?.[1]
  if (/^\d+$/.test(first)) return code(second)
  return code(first) && `problem-${code(first)}`
}

export function NoSuchPage() {
  return (
    <DocPage title="Not found">
      <h1 className="unseen">Not found</h1>
      <EmptyState title="The documentation has no such page.">
        <DocLink href="/docs">All pages</DocLink>
      </EmptyState>
    </DocPage>
  )
}
