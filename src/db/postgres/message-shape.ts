/** Checks that a message's length fits its content. Knows nothing of its meaning. */
import { from, requireEnd } from './wire.ts'

/**
 * Throws when a message that has little content besides its type is not whole. A wrong length would swallow
 * the messages behind it, and with them the end of an answer.
 */
export function requireShape(type: number, body: Buffer): void {
  const end = shapes[type]?.(body)
  if (end !== undefined) requireEnd(body, end)
}

const nothing = () => 0
/** Type of a message → function that finds the end of its content. */
const shapes: { readonly [type: number]: (body: Buffer) => number } = {
  [from.parsed]: nothing,
  [from.bound]: nothing,
  [from.noRows]: nothing,
  [from.empty]: nothing,
  [from.ready]: () => 1,
  [from.cancelKey]: () => 8,
  [from.carriedOut]: body => endOfText(body, 0),
  [from.status]: body => endOfText(body, endOfText(body, 0)),
  [from.notification]: body => endOfText(body, endOfText(body, 4)),
  [from.refusal]: endOfFields,
  [from.notice]: endOfFields,
}

function endOfText(body: Buffer, at: number): number {
  return body.indexOf(0, at) + 1 || body.length + 1
}

/** Fields are texts; an empty one ends them. */
function endOfFields(body: Buffer): number {
  let at = 0
  while (at < body.length && body[at] !== 0) at = endOfText(body, at)
  return at + 1
}
