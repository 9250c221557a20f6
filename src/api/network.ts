/** The network of an address. Requests and connections are counted by network, as one customer has one. */

/** An IPv4 address itself; of an IPv6 address the first 64 bits, because a customer is given that many. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head, tail] = plain.split('::').map(part => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array.from({ length: 8 - head!.length - tail.length }, () => '0') : []
  return [...head!, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')
}
