/**
 * Logs in to a PostgreSQL server: with the plain password, with MD5, or with SCRAM-SHA-256 (RFC 5802), as the
 * server wants. Owns the messages; knows no connection.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'
import { DatabaseUnavailable } from './unavailable.ts'
import { password, passwordGoesOn } from './wire.ts'

/** The answer to the body of an Authentication message; null when none is needed. */
export type Login = (body: Buffer) => Buffer | null

const scram = 'SCRAM-SHA-256'

/**
 * One login; each session needs a new one. Throws DatabaseUnavailable when the server wants an unknown
 * method, or proves not to know the password.
 */
export function login(user: string, secret: string): Login {
  const first = `n=*,r=${randomBytes(18).toString('base64')}`
  let proof: Proof | undefined
  const answers: { readonly [type: number]: (rest: Buffer) => Buffer | null } = {
    0: () => null,
    3: () => password(secret),
    5: salt => password(`md5${md5(Buffer.concat([Buffer.from(md5(secret + user)), salt]))}`),
    10: mechanisms => {
      const names = mechanisms.toString('utf8').split('\0')
      if (!names.includes(scram)) throw refused(`wants ${names.filter(Boolean).join(' or ')}`)
      return password(`n,,${first}`, scram)
    },
    11: challenge => {
      proof = prove(first, challenge.toString('utf8'), secret)
      return passwordGoesOn(proof.answer)
    },
    12: final => {
      const [, signature = ''] = /^v=([^,]*)/.exec(final.toString('utf8')) ?? []
      const given = Buffer.from(signature, 'base64')
      if (!proof || given.length !== proof.server.length || !timingSafeEqual(given, proof.server)) {
        throw refused('does not know the password itself')
      }
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

type Proof = {
  readonly answer: string
  /** what only a server that knows the password can send */
  readonly server: Buffer
}

function prove(first: string, challenge: string, secret: string): Proof {
  const [, nonce = '', salt = '', iterations = ''] = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(challenge) ?? []
  if (!nonce.startsWith(first.slice('n=*,r='.length))) throw refused('answered another login than this one')
  const withoutProof = `c=biws,r=${nonce}`
  const all = `${first},${challenge},${withoutProof}`
  const salted = pbkdf2Sync(secret, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256')
  const key = hmac(salted, 'Client Key')
  const signature = hmac(createHash('sha256').update(key).digest(), all)
  const proof = key.map((byte, index) => byte ^ signature[index]!)
  return {
    answer: `${withoutProof},p=${Buffer.from(proof).toString('base64')}`,
    server: hmac(hmac(salted, 'Server Key'), all),
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function md5(data: string | Buffer): string {
  return createHash('md5').update(data).digest('hex')
}

function refused(why: string): DatabaseUnavailable {
  return new DatabaseUnavailable(`The server ${why}`)
}
