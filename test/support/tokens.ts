/** Tokens made without a request, also such as no request could make. */
import { loadCatalog } from '../../src/accounts/callers.ts'
import { createToken as create } from '../../src/accounts/tokens.ts'
import type { Transaction } from '../../src/records/store.ts'
import { workOn } from '../../src/records/work.ts'
import { resources } from '../../src/resources/resources.ts'

type NewToken = {
  readonly account: number
  readonly user: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly token: string
}

export async function createToken(
  db: Transaction,
  { account, user, name, scopes, token }: NewToken,
): Promise<number> {
  const catalog = await loadCatalog(db, resources, account)
  const work = workOn(db, { catalog, actor: user }, 'token')
  const { id } = await create(work, { name, scopes: [...scopes] }, token)
  return id
}
