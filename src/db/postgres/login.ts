/**
 * Logs in to a PostgreSQL server: with the plain password, MD5, or SCRAM-SHA-256 (RFC 5802), with or without
 * channel binding, as the server wants. Owns the messages; knows no connection.
 */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { DatabaseUnavailable } from '../unavailable.ts'
import { password, passwordGoesOn } from './wire.ts'

export type Binding = {
  /** libpq's channel_binding */
  readonly wanted: 'disable' | 'prefer' | 'require'
  /** of the connection (channel-binding.ts); null if it has none */
  readonly hash: Buffer | null
}

type Answer = Buffer | null | Promise<Buffer>
/** The answer to the body of an Authentication message; null when none is needed. */
export type Login = (body: Buffer) => Answer

const scram = 'SCRAM-SHA-256'
const bound = 'SCRAM-SHA-256-PLUS'
/** More would keep the processor busy for minutes; PostgreSQL's default is 4096. */
const iterationsMax = 1_000_000
/** A password that SASLprep (RFC 4013) leaves unchanged: printable ASCII. */
const plainPassword = /^[ -~]*$/

/**
 * One login; each session needs a new one. Throws DatabaseUnavailable when the server wants an unknown
 * method, proves not to know the password, or can't do required channel binding.
 */
export function login(user: string, secret: string, binding: Binding = unbound): Login {
  const first = `n=*,r=${randomBytes(18).toString('base64')}`
  const isRequired = binding.wanted === 'require'
  let way: Way | undefined
  let proof: Proof | undefined
  // A server that has begun to prove that it knows the password has to finish the proof.
  let isProven = !isRequired
  const byPassword = (answer: string) => {
    if (isRequired) throw refused(notBound)
    return password(answer)
  }
  const answers: { readonly [type: number]: (rest: Buffer) => Answer } = {
    0: () => {
      if (!isProven) throw refused(way ? 'has not proved that it knows the password' : notBound)
      return null
    },
    3: () => byPassword(secret),
    5: salt => byPassword(`md5${md5(Buffer.concat([Buffer.from(md5(secret + user)), salt]))}`),
    10: mechanisms => {
      const names = mechanisms.toString('utf8').split('\0')
      way = wayOf(names, binding)
      isProven = false
      return password(`${way.head}${first}`, way.name)
    },
    11: async challenge => {
      if (!way || proof) throw refused('asks for a proof out of turn')
      proof = await prove(way, first, challenge.toString('utf8'), secret)
      return passwordGoesOn(proof.answer)
    },
    12: final => {
      const [, signature = ''] = /^v=([^,]*)/.exec(final.toString('utf8')) ?? []
      const given = Buffer.from(signature, 'base64')
      if (!proof || given.length !== proof.server.length || !timingSafeEqual(given, proof.server)) {
        throw refused('does not know the password itself')
      }
      isProven = true
      return null
    },
  }
  return body => {
    const type = body.readUInt32BE(0)
    const answer = answers[type]
    if (!answer) throw refused(`wants a way of logging in that is not known here (${type})`)
    return answer(body.subarray(4))
  }
}

const unbound: Binding = { wanted: 'disable', hash: null }
const notBound =
  'does not bind the login to its TLS connection, which DATABASE_URL asks for (channel_binding)'

type Way = { readonly name: string; readonly head: string; readonly hash: Buffer }

/** The mechanism, and the client's channel-binding flag (RFC 5802, section 6). */
function wayOf(offered: readonly string[], { wanted, hash }: Binding): Way {
  if (wanted !== 'disable' && hash && offered.includes(bound))
    return { name: bound, head: 'p=tls-server-end-point,,', hash }
  if (wanted === 'require') throw refused(notBound)
  if (!offered.includes(scram)) throw refused(`wants ${offered.filter(Boolean).join(' or ')}`)
  // "y" lets a server that offers binding detect a man-in-the-middle who hid the offer.
  const couldBind = wanted !== 'disable' && hash !== null
  return { name: scram, head: couldBind ? 'y,,' : 'n,,', hash: Buffer.alloc(0) }
}

type Proof = {
  readonly answer: string
  /** signature that only a server that knows the password can send */
  readonly server: Buffer
}

async function prove(way: Way, first: string, challenge: string, secret: string): Promise<Proof> {
  const [, nonce = '', salt = '', iterations = ''] = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(challenge) ?? []
  if (!nonce.startsWith(first.slice('n=*,r='.length))) throw refused('answered another login than this one')
  if (Number(iterations) > iterationsMax) throw refused(`wants ${iterations} rounds of hashing`)
  const binding = Buffer.concat([Buffer.from(way.head), way.hash]).toString('base64')
  const withoutProof = `c=${binding},r=${nonce}`
  const all = `${first},${challenge},${withoutProof}`
  const salted = await hash(prepared(secret), Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256')
  const key = hmac(salted, 'Client Key')
  const signature = hmac(createHash('sha256').update(key).digest(), all)
  const proof = key.map((byte, index) => byte ^ signature[index]!)
  return {
    answer: `${withoutProof},p=${Buffer.from(proof).toString('base64')}`,
    server: hmac(hmac(salted, 'Server Key'), all),
  }
}

const hash = promisify(pbkdf2)

/**
 * A password normalized by SASLprep (RFC 4013). One with characters that SASLprep forbids stays unchanged, as
 * in PostgreSQL.
 */
function prepared(secret: string): string {
  if (plainPassword.test(secret)) return secret
  const mapped = secret
    .replace(/(?! )\p{Zs}|\u200b/gu, ' ')
    .replace(mappedToNothing, '')
    .normalize('NFKC')
  return mapped === '' || forbidden.test(mapped) ? secret : mapped
}

/** RFC 3454, B.1. */
const mappedToNothing = /\u034f|[\u00ad\u1806\u200c\u2060\ufeff]|[\u180b-\u180d]|\u200d|[\ufe00-\ufe0f]/gu
/** RFC 3454, C.2 to C.9. */
const forbidden = /[\p{Cc}\p{Co}\p{Cs}\u06dd\u070f\u180e\u2028\u2029\u2061-\u2063\u206a-\u206f\ufff9-\uffff]/u

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function md5(data: string | Buffer): string {
  return createHash('md5').update(data).digest('hex')
}

function refused(why: string): DatabaseUnavailable {
  return new DatabaseUnavailable(`The server ${why}`)
}
