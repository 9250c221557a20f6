/** Whose an address is, as far as an address tells: what is counted for one caller is counted for it. */

/** An IPv4 address itself; of an IPv6 address the first 64 bits, as one customer is given that many. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head, tail] = plain.split('::').map(part => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array.from({ length: 8 - head!.length - tail.length }, () => '0') : []
  return [...head!, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')
}
