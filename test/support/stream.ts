/** A client of server-sent events, for tests: it reads them one by one. */
import type { PresentedEvent } from '../../src/history/present.ts'

export type Streamed = { readonly id: string; readonly event: string; readonly data: PresentedEvent }

export type Stream = {
  /** The next event with data. Throws when the stream has ended. */
  next(): Promise<Streamed>
  end(): Promise<void>
}

export async function eventsOf(url: string, token: string, lastEventId?: string): Promise<Stream> {
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  })
  if (response.headers.get('content-type') !== 'text/event-stream') throw new Error(await response.text())
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end < 0) {
          const { done, value } = await reader.read()
          if (done) throw new Error('The stream has ended.')
          text += value
          continue
        }
        const members = Object.fromEntries(
          text
            .slice(0, end)
            .split('\n')
            .map(line => line.split(/: (.*)/s, 2)),
        )
        text = text.slice(end + 2)
        if (members.data) return { ...members, data: JSON.parse(members.data) } as Streamed
      }
    },
    end: () => reader.cancel(),
  }
}
