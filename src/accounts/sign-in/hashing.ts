/**
 * Hashes passwords with argon2id (D61) in PHC strings, which contain their parameters. A process computes one
 * hash at a time, and the queue is short: sign-ins can't stop the service.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import { KeyedMutex } from '../../waiting/keyed-mutex.ts'
import { type Argon2Parameters, argon2id } from './argon2.ts'
import { plainPassword } from './password.ts'

/** OWASP's recommendation: 19 MiB, two passes, one lane. About 50 ms of a core. */
const current: Argon2Parameters = { memory: 19_456, passes: 2, parallelism: 1 }

const [saltBytes, hashBytes] = [16, 32]
/** Maximum of hashes in the queue: the last one waits a second or two. */
const waitingMax = 20

export class Hashing {
  /** number of computed hashes */
  computed = 0
  #waiting = 0
  readonly #mutex = new KeyedMutex<'hash'>('password_hash')

  /** A password's hash in the stored form. Throws `overloaded`. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(saltBytes)
    return phc(current, salt, await this.#compute(password, salt, current))
  }

  /**
   * True if a password matches the stored hash. Without a hash it does the same work, to prevent user
   * enumeration by timing. Throws `overloaded`.
   */
  async isRight(password: string, stored: string | null): Promise<boolean> {
    const { parameters, salt, hash } = parsed(stored) ?? nobodys
    const computed = await this.#compute(password, salt, parameters)
    return hash !== null && timingSafeEqual(hash, computed)
  }

  /** True if a stored hash has outdated parameters. */
  isOld(stored: string): boolean {
    const known = parsed(stored)?.parameters
    return !known || prefixOf(known) !== prefixOf(current)
  }

  /** Throws `overloaded` if the queue is full. */
  refuseIfFull(): void {
    if (this.#waiting < waitingMax) return
    const detail = 'Too many people are signing in; try again in a moment.'
    throw new Refusal('overloaded', detail, [], { 'retry-after': '2' })
  }

  async #compute(password: string, salt: Buffer, parameters: Argon2Parameters): Promise<Buffer> {
    this.refuseIfFull()
    this.#waiting++
    const compute = () => {
      this.computed++
      const message = plainPassword(password)
      return argon2id({ ...parameters, message, nonce: salt, tagLength: hashBytes })
    }
    return this.#mutex.run('hash', compute).finally(() => {
      this.#waiting--
    })
  }
}

type StoredHash = {
  readonly parameters: Argon2Parameters
  readonly salt: Buffer
  readonly hash: Buffer | null
}

/** The dummy for users without a password: no password matches it. */
const nobodys: StoredHash = { parameters: current, salt: Buffer.alloc(saltBytes), hash: null }

/** `$argon2id$v=19$m=…,t=…,p=…$salt$hash`; null for anything else. */
function parsed(stored: string | null): StoredHash | null {
  const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d)\$([\w+/]{22})\$([\w+/]{43})$/
  const match = form.exec(stored ?? '')
  if (!match) return null
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number]
  const [salt, hash] = match.slice(4).map(text => Buffer.from(text, 'base64')) as [Buffer, Buffer]
  return { parameters: { memory, passes, parallelism }, salt, hash }
}

function phc(parameters: Argon2Parameters, salt: Buffer, hash: Buffer): string {
  const [first, second] = [salt, hash].map(bytes => bytes.toString('base64').replaceAll('=', ''))
  return [prefixOf(parameters), first, '$', second].join('')
}

function prefixOf({ memory, passes, parallelism }: Argon2Parameters): string {
  return ['$argon2id$v=19$m=', memory, ',t=', passes, ',p=', parallelism, '$'].join('')
}
