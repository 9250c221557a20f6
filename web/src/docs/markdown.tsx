/**
 * Markdown as elements of the UI. Its tokens never become HTML, so a text can't bring an element or a script
 * of its own.
 */
import type { MarkedToken, Token, Tokens } from 'marked'
import { createContext, type ReactNode, useContext } from 'react'
import { Cited, DocLink } from './doc-link.tsx'
import { CodeBlock } from './scrollable.tsx'
import { Cell, Row, Table } from './table.tsx'
import { slugOf } from './texts.ts'

/** The id of a table's row, by the texts of its cells. */
type RowId = (cells: readonly string[]) => string | undefined
const RowIds = createContext<RowId>(() => undefined)

export function Markdown({ tokens, rowId }: { tokens: readonly Token[]; rowId?: RowId }) {
  return <RowIds value={rowId ?? (() => undefined)}>{all(tokens)}</RowIds>
}

function all(tokens: readonly Token[] = []): ReactNode[] {
  // biome-ignore lint/suspicious/noArrayIndexKey: a text doesn't change
  return tokens.map((token, index) => <Part key={index} token={token as MarkedToken} />)
}

function Part({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'heading':
      return <Heading token={token} />
    case 'paragraph':
      return (
        <p id={decisionOf(token)} className="my-3">
          {all(token.tokens)}
        </p>
      )
    case 'list':
      return <List token={token} />
    case 'list_item':
      return <li className="my-1">{all(token.tokens)}</li>
    case 'code':
      return <CodeBlock className="my-3">{token.text}</CodeBlock>
    case 'table':
      return <TableOf token={token} />
    case 'blockquote':
      return <blockquote className="my-3 border-l-2 border-line-strong pl-3">{all(token.tokens)}</blockquote>
    case 'link':
      return <DocLink href={token.href}>{all(token.tokens)}</DocLink>
    case 'strong':
      return <strong className="font-semibold">{all(token.tokens)}</strong>
    case 'em':
      return <em>{all(token.tokens)}</em>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'hr':
      return <hr className="my-6 border-line" />
    case 'space':
    case 'def':
      return null
    case 'text':
      return token.tokens ? all(token.tokens) : <Cited text={token.text} />
    default:
      return <Cited text={'text' in token ? token.text : token.raw} />
  }
}

/** The page's own heading has no anchor. */
function Heading({ token: { depth, text, tokens } }: { token: Tokens.Heading }) {
  if (depth === 1) return <h1 className="mb-4 text-2xl leading-8 font-semibold">{all(tokens)}</h1>
  const id = slugOf(text)
  if (depth === 2)
    return (
      <h2 id={id} className="mt-9 mb-2 border-t border-line pt-5 text-xl">
        {all(tokens)}
      </h2>
    )
  return (
    <h3 id={id} className="mt-7 mb-2 text-lg">
      {all(tokens)}
    </h3>
  )
}

/** The number of the decision that a paragraph begins with: "**D90 · …". */
function decisionOf({ text }: Tokens.Paragraph): string | undefined {
  return /^\*\*(D\d+) · /.exec(text)?.[1]
}

function List({ token }: { token: Tokens.List }) {
  return token.ordered ? (
    <ol className="my-3 list-decimal pl-6">{all(token.items)}</ol>
  ) : (
    <ul className="my-3 list-disc pl-6">{all(token.items)}</ul>
  )
}

function TableOf({ token: { header, rows } }: { token: Tokens.Table }) {
  const rowId = useContext(RowIds)
  return (
    <Table head={header.map(({ tokens }) => all(tokens))}>
      {rows.map(cells => {
        const texts = cells.map(({ text }) => text)
        return (
          <Row key={texts.join()} id={rowId(texts)}>
            {cells.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other name
              <Cell key={index} label={header[index]!.text}>
                {all(cell.tokens)}
              </Cell>
            ))}
          </Row>
        )
      })}
    </Table>
  )
}
