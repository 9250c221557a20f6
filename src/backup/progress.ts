/** Progress at a terminal: one line on standard error that is overwritten. Silent without a terminal. */

export type Progress = { show(text: string): void; clear(): void }

const everyMs = 100

export function progress(output: NodeJS.WriteStream = process.stderr): Progress {
  let shownAt = Number.NEGATIVE_INFINITY
  return {
    show(text) {
      if (!output.isTTY || performance.now() - shownAt < everyMs) return
      shownAt = performance.now()
      output.write(`\r\x1b[K${text}`)
    },
    clear() {
      if (output.isTTY && shownAt > 0) output.write('\r\x1b[K')
    },
  }
}

/** 12345 as "12 345". */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ' ')
}

export function size(bytes: number): string {
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return bytes < 1_000_000_000 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}
