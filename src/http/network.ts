/**
 * Maps an address to its network. Requests and connections are counted per network, as one customer has one.
 */

/**
 * An IPv4 address as it stands; of an IPv6 address the first 64 bits, the usual assignment of one customer.
 */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head, tail] = plain.split('::').map(part => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array.from({ length: 8 - head!.length - tail.length }, () => '0') : []
  return [...head!, ...zeros, ...(tail ?? [])].slice(0, 4).join(':')
}
