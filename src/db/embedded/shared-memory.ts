/**
 * Lets the service's thread interrupt the busy engine. PostgreSQL ends a statement after a signal, whose
 * handler sets two variables that it polls; WebAssembly has no signals. So the engine's memory is made a
 * shared one, and the service's thread sets the variables. Owns that change of the engine's modules
 * (WebAssembly core specification, "Binary Format") and the addresses of the variables. Knows nothing of
 * statements.
 */

/** Addresses of PostgreSQL's interrupt flags, as indexes of 32-bit words. */
export type Interrupt = {
  readonly words: Int32Array<SharedArrayBuffer>
  readonly cancel: number
  readonly pending: number
}

/**
 * Makes PostgreSQL end the running statement with "canceling statement" (57014) when it next checks for
 * interrupts.
 */
export function raise({ words, cancel, pending }: Interrupt): void {
  Atomics.store(words, cancel, 1)
  Atomics.store(words, pending, 1)
}

/** Clears an interrupt that came after its statement had ended, before it hits the next one. */
export function clear({ words, cancel }: Interrupt): void {
  Atomics.store(words, cancel, 0)
}

type Instance = { readonly exports: Readonly<Record<string, { readonly value: number }>> }
/** The members of WebAssembly that are patched in this thread. */
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
 * Patches WebAssembly so that every module loaded by this thread from now on shares its memory. The function
 * that it returns gives the addresses of the interrupt flags, once the memory is loaded.
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
/** in pages of 64 kB; a shared memory must declare a maximum, and this is the largest one */
const mostPages = 65_536

/** The same module with its imported memory, if any, declared as shared. */
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

/** A number in LEB128: seven bits a byte, the lowest first. */
function leb128(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb128(value >>> 7)]
}
