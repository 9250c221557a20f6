/**
 * A server that speaks PostgreSQL's protocol well, in this process, until its messages are mutated: to test
 * the client with broken or hostile servers. It knows four statements: "echo" answers its parameter, "many"
 * does five times, "nothing" has no rows, "refuse" is refused.
 */
import { createHmac, pbkdf2Sync } from 'node:crypto'
import { Duplex } from 'node:stream'

export type Behaviour = {
  readonly way: 'trust' | 'clear' | 'md5' | 'scram'
  readonly password: string
  /** Replaces a message; null ends the connection. */
  change(message: Buffer): Buffer | null
  /** number of the pending bytes that are sent at once */
  cut(left: number): number
}

const text = (value: string) => Buffer.from(`${value}\0`)

/** A message of a type with its length. */
export function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeInt32BE(value, index * 4)
  return bytes
}

export const login = (type: number, rest = ''): Buffer =>
  message('R', numbers(type), Buffer.from(rest, 'latin1'))
export const ready: Buffer = message('Z', Buffer.from('I'))
const fields = (...all: string[]) => Buffer.concat([...all.map(text), Buffer.alloc(1)])
const columns = message('T', Buffer.from([0, 1]), text('mark'), Buffer.alloc(18))
export const row = (mark: Buffer): Buffer => message('D', Buffer.from([0, 1]), numbers(mark.length), mark)

export class ScriptedServer extends Duplex {
  /** number of sent messages */
  said = 0

  readonly #behaviour: Behaviour
  #unread: Buffer = Buffer.alloc(0)
  #unsent: Buffer[] = []
  #hasBegun = false
  #isIn = false
  #isOver = false
  #scram: Scram | null = null
  /** the statements before the next Sync */
  #asked: { text: string; mark: Buffer; isNew: boolean }[] = []
  readonly #kept = new Map<string, string>()

  constructor(behaviour: Behaviour) {
    super({ allowHalfOpen: false })
    this.#behaviour = behaviour
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#unread = Buffer.concat([this.#unread, chunk])
    for (;;) {
      const head = this.#hasBegun ? 1 : 0
      if (this.#unread.length < head + 4) break
      const end = head + this.#unread.readUInt32BE(head)
      if (this.#unread.length < end) break
      const body = this.#unread.subarray(head + 4, end)
      this.#take(head ? String.fromCharCode(this.#unread[0]!) : '', body)
      this.#unread = this.#unread.subarray(end)
    }
    // As over a network: no answer before the statement is sent.
    setImmediate(() => this.#send())
    done()
  }

  #take(type: string, body: Buffer): void {
    const nameEnd = body.indexOf(0)
    if (!this.#hasBegun) this.#begin()
    else if (!this.#isIn) this.#logIn(body)
    else if (type === 'P') {
      const name = body.toString('latin1', 0, nameEnd)
      this.#kept.set(name, body.toString('latin1', nameEnd + 1, body.indexOf(0, nameEnd + 1)))
      this.#asked.push({ text: '', mark: Buffer.alloc(0), isNew: true })
    } else if (type === 'B') this.#bind(body)
    else if (type === 'S') this.#answer()
  }

  #begin(): void {
    this.#hasBegun = true
    const { way } = this.#behaviour
    const asks = { clear: login(3), md5: login(5, 'salt'), scram: login(10, 'SCRAM-SHA-256\0\0') }
    if (way === 'trust') this.#letIn()
    else this.#unsent.push(asks[way])
  }

  #logIn(body: Buffer): void {
    const { way, password } = this.#behaviour
    if (way === 'scram') {
      this.#scram ??= new Scram(password)
      const answer = this.#scram.next(body.toString('latin1'))
      this.#unsent.push(login(this.#scram.isOver ? 12 : 11, answer))
    }
    if (this.#scram?.isOver !== false) this.#letIn()
  }

  #letIn(): void {
    this.#isIn = true
    const status = message('S', text('TimeZone'), text('UTC'))
    this.#unsent.push(login(0), status, message('K', numbers(1, 2)), ready)
  }

  #bind(body: Buffer): void {
    const name = body.toString('latin1', 1, body.indexOf(0, 1))
    // After the name: the formats with their number, the number of parameters, then each with its length.
    const formats = body.readUInt16BE(2 + name.length)
    const at = 2 + name.length + 4 + formats * 2
    const mark = body.readUInt16BE(at - 2) > 0 ? body.subarray(at + 4, at + 4 + body.readUInt32BE(at)) : body
    const parsed = this.#asked.at(-1)
    const isNew = parsed?.text === ''
    if (isNew) this.#asked.pop()
    this.#asked.push({ text: this.#kept.get(name)!, mark: Buffer.from(mark), isNew })
  }

  #answer(): void {
    for (const { text: asked, mark, isNew } of this.#asked) {
      if (isNew) this.#unsent.push(message('1'))
      if (asked.startsWith('refuse')) {
        this.#unsent.push(message('E', fields('SERROR', 'VERROR', 'C22012', 'Mdivision by zero')))
        break
      }
      const hasRows = !asked.startsWith('nothing')
      const count = asked.startsWith('many') ? 5 : 1
      this.#unsent.push(message('2'), hasRows ? columns : message('n'))
      if (hasRows) this.#unsent.push(...Array.from({ length: count }, () => row(mark)))
      this.#unsent.push(message('C', text('SELECT 1')))
    }
    this.#unsent.push(ready)
    this.#asked = []
  }

  #send(): void {
    if (this.#isOver || this.destroyed) return
    this.said += this.#unsent.length
    const changed = this.#unsent.splice(0).map(one => this.#behaviour.change(one))
    const last = changed.indexOf(null)
    const all = Buffer.concat((last < 0 ? changed : changed.slice(0, last)) as Buffer[])
    for (let at = 0; at < all.length; ) {
      const size = this.#behaviour.cut(all.length - at)
      this.push(all.subarray(at, at + size))
      at += size
    }
    if (last >= 0) this.hangUp()
  }

  /** Ends the connection after everything unread was read. */
  hangUp(): void {
    this.#isOver = true
    this.push(null)
  }
}

/** The server's half of SCRAM-SHA-256 (RFC 5802), with one round of hashing. */
class Scram {
  isOver = false
  readonly #password: string
  #said = ''
  constructor(password: string) {
    this.#password = password
  }

  next(sent: string): string {
    if (this.#said === '') {
      const first = sent.slice(sent.indexOf('n=*'))
      const challenge = `${first.slice(4)}more,s=${Buffer.from('salt').toString('base64')},i=1`
      this.#said = `${first},${challenge}`
      return challenge
    }
    this.isOver = true
    const key = pbkdf2Sync(this.#password, 'salt', 1, 32, 'sha256')
    const of = (secret: Buffer, what: string) => createHmac('sha256', secret).update(what).digest()
    const all = `${this.#said},${sent.slice(0, sent.indexOf(',p='))}`
    return `v=${of(of(key, 'Server Key'), all).toString('base64')}`
  }
}
