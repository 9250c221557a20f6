/** The axis of a chart. Pure. */

const tops = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8]

/** The least round number that is not below a value: the top of an axis whose middle is round, too. */
export function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return (tops.find(step => step * power >= value) ?? 10) * power
}
