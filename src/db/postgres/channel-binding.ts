/**
 * Channel binding: binds a login to its TLS connection (RFC 5929, tls-server-end-point), which prevents a
 * man-in-the-middle from relaying it. Knows no login.
 */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'

/** The members of a TLS socket that are used here. */
type Secured = Duplex & { getPeerCertificate(): { raw?: Buffer } }

/** Signature of a certificate, as its object identifier in hexadecimal (RSA and ECDSA) → hash. */
const hashes: { readonly [signature: string]: string } = {
  // MD5 and SHA-1 count as SHA-256 (RFC 5929, 4.1).
  '2a864886f70d010104': 'sha256',
  '2a864886f70d010105': 'sha256',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a864886f70d01010e': 'sha224',
  '2a8648ce3d0401': 'sha256',
  '2a8648ce3d040301': 'sha224',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
}

/**
 * Hash of the server's certificate. Null without TLS, and for a signature that names no hash (Ed25519) or
 * names it elsewhere (RSASSA-PSS).
 */
export function endPointOf(connection: Duplex): Buffer | null {
  const { raw } = (connection as Partial<Secured>).getPeerCertificate?.() ?? {}
  const hash = raw && hashes[signatureOf(raw)]
  return hash ? createHash(hash).update(raw).digest() : null
}

/** Object identifier of a certificate's signature, in hexadecimal; in X.509 it follows the signed part. */
function signatureOf(certificate: Buffer): string {
  const whole = element(certificate, 0)
  const algorithm = element(certificate, element(certificate, whole.from).to)
  const { from, to } = element(certificate, algorithm.from)
  return certificate.toString('hex', from, to)
}

/** Bounds of the content of the DER element that begins at `at`. */
function element(bytes: Buffer, at: number): { from: number; to: number } {
  const first = bytes[at + 1]!
  if (first < 0x80) return { from: at + 2, to: at + 2 + first }
  const from = at + 2 + (first & 0x7f)
  return { from, to: from + bytes.readUIntBE(at + 2, first & 0x7f) }
}
