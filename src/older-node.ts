/**
 * Polyfills for Node.js 20, on which the package of a release runs, too (D153): importing this file adds the
 * missing ones. A release compiles for the language of 2023; anything newer that the service uses stands
 * here.
 */
import { randomUUID } from 'node:crypto'

function add(target: object, name: PropertyKey, value: unknown): void {
  if (name in target) return
  Object.defineProperty(target, name, { value, writable: true, configurable: true })
}

add(Promise, 'withResolvers', function withResolvers<T>(this: PromiseConstructor) {
  const parts = {} as PromiseWithResolvers<T>
  parts.promise = new this<T>((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
})

add(Map, 'groupBy', <Item, Key>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key) => {
  const groups = new Map<Key, Item[]>()
  let index = 0
  for (const item of items) {
    const key = keyOf(item, index++)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
})

add(Set.prototype, 'intersection', function intersection<Item>(this: Set<Item>, other: Set<unknown>) {
  return new Set([...this].filter(item => other.has(item)))
})

const iterators = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object

add(iterators, 'find', function find<Item>(this: Iterable<Item>, isIt: (item: Item) => boolean) {
  for (const item of this) if (isIt(item)) return item
  return undefined
})

add(iterators, 'some', function some<Item>(this: Iterable<Item>, isIt: (item: Item) => boolean) {
  for (const item of this) if (isIt(item)) return true
  return false
})

if (!('rawJSON' in JSON)) {
  const mark = randomUUID()
  const marked = new RegExp(`"${mark}([^"]*)"`, 'g')
  const raws = new WeakSet<object>()
  const stringify = JSON.stringify
  add(JSON, 'rawJSON', (text: string) => {
    const raw = Object.create(null, {
      rawJSON: { value: text, enumerable: true },
      toJSON: { value: () => mark + text },
    })
    raws.add(raw)
    return Object.freeze(raw)
  })
  add(JSON, 'isRawJSON', (value: unknown) => typeof value === 'object' && value !== null && raws.has(value))
  Object.assign(JSON, {
    stringify: (...parameters: Parameters<typeof stringify>) => {
      const text = stringify(...parameters)
      return text?.includes(mark) ? text.replace(marked, (_, raw) => raw) : text
    },
  })
}
