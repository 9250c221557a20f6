/** Imports of files by a service, from the upload to the end of a phase. */
import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import { type Service, v1 } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the tests are about
type Any = any

export type Importer = {
  upload(
    resource: string,
    file: string | Uint8Array,
    more?: string,
    type?: string,
    format?: string,
  ): Promise<{ status: number; body: Any }>
  /** Waits for the end of the import's phase, and returns the import. */
  ended(id: number): Promise<Any>
  /** Begins a phase, and waits for its end. */
  told(id: number, action: string): Promise<Any>
  /** Number of a resource's records that match a filter. */
  count(resource: string, filter: string): Promise<number>
}

export function importerOf({ url, token, call, get }: Service): Importer {
  const ended = (id: number) =>
    eventually(async () => {
      const { data } = (await get(`${v1}/import/${id}`)).body
      return data.state !== 'running' && data
    }, 'an end of the phase')
  return {
    ended,
    upload: async (resource, file, more = '', type = 'text/csv', format = 'csv') => {
      const response = await fetch(`${url}${v1}/import?resource=${resource}&format=${format}${more}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body: file as string,
      })
      return { status: response.status, body: await response.json() }
    },
    told: async (id, action) => {
      const reply = await call('POST', `${v1}/import/${id}/${action}`)
      assert.equal(reply.status, 200, reply.text)
      return ended(id)
    },
    count: async (resource, filter) =>
      (await get(`${v1}/${resource}/view/list?pageSize=1&count=exact&filter=${filter}`)).body.meta.total,
  }
}
