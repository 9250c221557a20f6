/**
 * Diagnostics channels (node:diagnostics_channel): parts of the service publish waits, sizes and refusals
 * here, and do not know who measures. Without a subscriber a message costs a comparison.
 */
import { type Channel, channel } from 'node:diagnostics_channel'

/** The messages of each channel. None has an account, an id, a path or a value of a record. */
export type Messages = {
  /** a caller begins to wait in a queue */
  'wait-begun': { readonly queue: string }
  'wait-ended': { readonly queue: string; readonly ms: number }
  /** a quota was too small for a request */
  'quota-refusal': { readonly quota: string }
  /** writes that share a commit */
  commit: { readonly writes: number }
  /** a read that a replica may answer (D172): `behind`, `failed` and `unused` are answered by the primary */
  'replica-read': { readonly outcome: 'answered' | 'behind' | 'failed' | 'unused' }
  /** the embedded engine failed and is opened again */
  'engine-restart': { readonly isOpen: boolean }
  /** a connection was refused before any route saw its request */
  'connection-refusal': { readonly error: string }
  'sign-in-refusal': { readonly error: string }
  /** a request waits for the next event of its account, or waits no longer */
  followers: { readonly change: 1 | -1 }
  /** a backup by schedule; `at`: its time, in milliseconds; `found`: an earlier one is there at the start */
  backup:
    | { readonly outcome: 'failed' }
    | { readonly outcome: 'found' | 'verified'; readonly at: number; readonly bytes: number }
  /** an attempt to deliver an event to a webhook */
  'webhook-attempt': { readonly outcome: 'delivered' | 'failed'; readonly ms: number }
}

type Name = keyof Messages

const channels = new Map<Name, Channel>()

function channelOf(name: Name): Channel {
  let one = channels.get(name)
  if (!one) {
    one = channel(`dealwright.${name}`)
    channels.set(name, one)
  }
  return one
}

export function publish<N extends Name>(name: N, message: Messages[N]): void {
  const one = channelOf(name)
  if (one.hasSubscribers) one.publish(message)
}

/** Calls `onMessage` for each message from now on. Returns the function that ends that. */
export function subscribe<N extends Name>(name: N, onMessage: (message: Messages[N]) => void): () => void {
  const one = channelOf(name)
  const listener = (message: unknown) => onMessage(message as Messages[N])
  one.subscribe(listener)
  return () => one.unsubscribe(listener)
}

const nothing = () => {}

/** Publishes a wait in `queue`. Returns the function that publishes its end. */
export function beginWait(queue: string): () => void {
  if (!channelOf('wait-begun').hasSubscribers) return nothing
  const since = performance.now()
  publish('wait-begun', { queue })
  return () => publish('wait-ended', { queue, ms: performance.now() - since })
}
