/** The reader of the reference: its account is shown, and sends requests, by a token or by the session. */
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { api, isSignedOut } from '../../api/api.ts'
import { queryClient } from '../../api/queries.ts'
import { tokenClient } from '../../api/token-client.ts'
import { createStore } from '../../ui/store.ts'
import type { ApiDocument } from './openapi.ts'

type Client = typeof api

/** The token stays in this tab. */
const storedAs = 'dealwright-token'
const token = createStore(sessionStorage.getItem(storedAs))

/** Throws if the service doesn't accept the token. */
export async function enterToken(secret: string): Promise<void> {
  queryClient.setQueryData(documentQuery(secret).queryKey, await documentBy(tokenClient(secret)))
  sessionStorage.setItem(storedAs, secret)
  token.set(secret)
}

export function forgetToken(): void {
  sessionStorage.removeItem(storedAs)
  token.set(null)
}

const documentQuery = (secret: string | null) =>
  queryOptions({
    queryKey: ['openapi', secret],
    queryFn: async () => {
      try {
        return await documentBy(secret === null ? api : tokenClient(secret))
      } catch (error) {
        if (!isSignedOut(error)) throw error
        // It has ended. The service removes the cookie of such a session.
        forgetToken()
        return documentBy(api)
      }
    },
  })

async function documentBy(client: Client): Promise<ApiDocument> {
  const { body } = await client.request('GET', '/openapi.json')
  return body as ApiDocument
}

export type Reader = {
  readonly document: ApiDocument
  /** null: nobody has signed in, and the document is that of the service */
  readonly account: { readonly id: number; readonly name: string } | null
  readonly hasToken: boolean
  readonly client: Client
}

export function useReader(): Reader {
  const secret = token.use()
  const { data: document } = useSuspenseQuery(documentQuery(secret))
  return {
    document,
    account: document.info['x-account'] ?? null,
    hasToken: secret !== null,
    client: secret === null ? api : tokenClient(secret),
  }
}
