/**
 * Lets another thread reach into the engine while it is busy. A statement that runs can't be talked to:
 * PostgreSQL is told to end one by a signal, whose handler sets two variables that it looks at now and then,
 * and WebAssembly has no signals. So the engine's memory is made one that threads share, and the service's
 * thread sets the variables itself. Owns that change of the engine's modules (WebAssembly core specification,
 * "Binary Format") and where the variables are. Knows nothing of statements.
 */

/** Where PostgreSQL looks whether to end its statement, as places in the memory's 32-bit words. */
export type Interrupt = {
  readonly words: Int32Array<SharedArrayBuffer>
  readonly cancel: number
  readonly pending: number
}

/**
 * Has PostgreSQL end the statement it carries out with "canceling statement" (57014); one that looks too
 * seldom goes on.
 */
export function raise({ words, cancel, pending }: Interrupt): void {
  Atomics.store(words, cancel, 1)
  Atomics.store(words, pending, 1)
}

/** Takes back what came when its statement was done, before it meets the next. */
export function clear({ words, cancel }: Interrupt): void {
  Atomics.store(words, cancel, 0)
}

type Instance = { readonly exports: Readonly<Record<string, { readonly value: number }>> }
/** The part of the thread's own WebAssembly that is changed. */
type Api = {
  Memory: new (limits: object) => object
  Module: new (bytes: ArrayBufferView) => object
  instantiate(
    source: ArrayBufferView | object,
    imports: object,
  ): Promise<Instance | { readonly instance: Instance }>
}
declare const WebAssembly: Api

/**
 * Has every WebAssembly module that this thread loads from now on share its memory. The function it returns
 * says where PostgreSQL looks in that memory, once it is loaded.
 */
export function shareMemory(): (memory: ArrayBufferLike) => Interrupt {
  const { Memory, Module, instantiate } = WebAssembly
  const places: Partial<Record<string, number>> = {}
  WebAssembly.Memory = new Proxy(Memory, {
    construct: (original, [limits]) => new original({ ...limits, shared: true }),
  })
  WebAssembly.Module = new Proxy(Module, {
    construct: (original, [bytes]) => new original(withSharedMemory(bytes)),
  })
  WebAssembly.instantiate = async (source, imports) => {
    const result = await instantiate(ArrayBuffer.isView(source) ? withSharedMemory(source) : source, imports)
    const { exports } = 'instance' in result ? result.instance : result
    for (const name of variables) if (name in exports) places[name] = exports[name]!.value
    return result
  }
  return memory => {
    const [cancel, pending] = variables.map(name => places[name])
    if (!(memory instanceof SharedArrayBuffer) || !cancel || !pending)
      throw new Error("The engine's memory can't be shared")
    return { words: new Int32Array(memory), cancel: cancel >> 2, pending: pending >> 2 }
  }
}

const variables = ['QueryCancelPending', 'InterruptPending']

const importSection = 2
const [ofFunction, ofTable, ofMemory, ofGlobal] = [0, 1, 2, 3]
const [hasMaximum, isShared] = [1, 2]
/** in pages of 64 kB; a shared memory must say how large it may grow, and this much is any other's limit */
const mostPages = 65_536

/** The same module, but that the memory it imports, if it does, is a shared one. */
function withSharedMemory({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  const module = new Uint8Array(buffer, byteOffset, byteLength)
  let at = 8
  const byte = () => module[at++]!
  const number = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const part = byte()
      value += (part & 0x7f) * 2 ** shift
      if (part < 0x80) return value
    }
  }
  const skip = (count: number) => {
    at += count
  }
  const skipLimits = () => {
    const flags = byte()
    number()
    if (flags & hasMaximum) number()
  }

  while (at < module.length) {
    const id = byte()
    const sizeAt = at
    const size = number()
    const contentAt = at
    if (id !== importSection) {
      skip(size)
      continue
    }
    for (let left = number(); left > 0; left--) {
      skip(number())
      skip(number())
      const kind = byte()
      if (kind === ofFunction) number()
      else if (kind === ofGlobal) skip(2)
      else if (kind === ofTable) {
        skip(1)
        skipLimits()
      } else if (kind === ofMemory) {
        const limitsAt = at
        const flags = byte()
        const least = number()
        const most = flags & hasMaximum ? number() : mostPages
        const limits = [hasMaximum | isShared, ...leb128(least), ...leb128(most)]
        const grown = size + limits.length - (at - limitsAt)
        return Buffer.concat([
          module.subarray(0, sizeAt),
          Uint8Array.from(leb128(grown)),
          module.subarray(contentAt, limitsAt),
          Uint8Array.from(limits),
          module.subarray(at),
        ])
      } else throw new Error(`an import of kind ${kind}`)
    }
    return module
  }
  return module
}

/** A number as WebAssembly writes it: seven bits a byte, the lowest first. */
function leb128(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb128(value >>> 7)]
}
