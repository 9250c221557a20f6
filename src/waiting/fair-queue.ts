/**
 * A queue of items of several keys, such as the writes of accounts. Keys take turns (round robin), so no key
 * waits behind another's many items. The items of one key are in FIFO order. The queue never waits: its
 * consumer decides when to take an item.
 */
import { beginWait } from '../diagnostics.ts'

type Waiting<Item> = { readonly item: Item; endWait(): void }

export class FairQueue<Key, Item> {
  /** key → its items; the key that has waited longest for its turn is the first */
  readonly #items = new Map<Key, Waiting<Item>[]>()
  readonly #name: string

  /** `name`: what waits here, for diagnostics */
  constructor(name: string) {
    this.#name = name
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }

  /** Adds an item behind the others of its key. */
  push(key: Key, item: Item): void {
    this.#of(key).push(this.#waiting(item))
  }

  /** Adds an item before the others of its key. */
  unshift(key: Key, item: Item): void {
    this.#of(key).unshift(this.#waiting(item))
  }

  /**
   * Removes the first item of the next key; that key comes last from now on. Keys that are `preferred` come
   * before the others.
   */
  shift(preferred: (key: Key) => boolean = () => true): Item | undefined {
    const key = this.#items.keys().find(preferred) ?? this.#items.keys().next().value
    if (key === undefined) return undefined
    const items = this.#items.get(key)!
    const { item, endWait } = items.shift()!
    endWait()
    this.#items.delete(key)
    if (items.length > 0) this.#items.set(key, items)
    return item
  }

  #waiting(item: Item): Waiting<Item> {
    return { item, endWait: beginWait(this.#name) }
  }

  #of(key: Key): Waiting<Item>[] {
    const items = this.#items.get(key) ?? []
    this.#items.set(key, items)
    return items
  }
}
