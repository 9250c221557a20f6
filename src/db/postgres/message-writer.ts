/** Writes messages of PostgreSQL's protocol, byte by byte. Knows no particular message. */

/** Writes messages one after the other; each begins with its type, but the first of a session has none. */
export function writer() {
  let bytes = Buffer.allocUnsafe(512)
  let at = 0
  let head = -1
  const room = (length: number) => {
    if (bytes.length - at >= length) return
    const larger = Buffer.allocUnsafe(bytes.length * 2 + length)
    bytes.copy(larger, 0, 0, at)
    bytes = larger
  }
  const close = () => {
    if (head >= 0) bytes.writeInt32BE(at - head, head)
  }
  const text = (value: string) => {
    const length = Buffer.byteLength(value)
    room(length + 1)
    bytes.write(value, at)
    at += length
  }
  const int16 = (value: number) => {
    room(2)
    at = bytes.writeUInt16BE(value, at)
  }
  const int32 = (value: number) => {
    room(4)
    at = bytes.writeInt32BE(value, at)
  }
  return {
    begin(type = '') {
      close()
      text(type)
      head = at
      int32(0)
    },
    text,
    int16,
    int32,
    /** a null-terminated text */
    name(value: string) {
      if (value.includes('\0')) throw new TypeError('A statement has no null bytes')
      text(value)
      bytes[at++] = 0
    },
    /** a length-prefixed text, or null */
    value(value: string | null) {
      int32(value === null ? -1 : Buffer.byteLength(value))
      if (value !== null) text(value)
    },
    end(): Buffer {
      close()
      return bytes.subarray(0, at)
    },
  }
}
