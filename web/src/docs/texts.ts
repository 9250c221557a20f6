/** The texts of the documentation, which the service serves as Markdown (D140), and their anchors. */
import { queryOptions } from '@tanstack/react-query'
import { marked, type Token, type Tokens } from 'marked'
import { api, DealwrightError } from '../api/api.ts'

/** `name`: below /docs; '' is the first page, which lists all others. Null if there is none. */
export const textQuery = (name: string) =>
  queryOptions({
    queryKey: ['docs', name],
    queryFn: async () => {
      const path = name ? `/docs/${encodeURIComponent(name)}` : '/docs'
      try {
        const { body } = await api.request('GET', path, { headers: { accept: 'text/markdown' } })
        return marked.lexer(String(body))
      } catch (error) {
        if (error instanceof DealwrightError && error.status === 404) return null
        throw error
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The anchors of headings, as GitHub makes them; the service links to them. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

export type NavigationGroup = { readonly title: string; readonly links: readonly Tokens.Link[] }

/** The lists of pages in the first page, each below its heading. */
export function navigationOf(tokens: readonly Token[]): NavigationGroup[] {
  return tokens.flatMap((token, index) => {
    const list = tokens.slice(index + 1).find(({ type }) => type !== 'space')
    if (token.type !== 'heading' || list?.type !== 'list') return []
    const links = (list as Tokens.List).items.flatMap(({ tokens }) => linksIn(tokens))
    return [{ title: (token as Tokens.Heading).text, links }]
  })
}

function linksIn(tokens: readonly Token[]): Tokens.Link[] {
  return tokens.flatMap(token =>
    token.type === 'link' ? [token as Tokens.Link] : linksIn((token as Tokens.Generic).tokens ?? []),
  )
}
