/** A reload, or a closed tab, would cut off what the page does: the browser asks first. */

/** number of works under way */
let underWay = 0

const ask = (event: Event) => event.preventDefault()

/** Until `work` ends, the browser asks before the page is left. */
export async function keepPage<T>(work: Promise<T>): Promise<T> {
  underWay++
  addEventListener('beforeunload', ask)
  try {
    return await work
  } finally {
    underWay--
    if (underWay === 0) removeEventListener('beforeunload', ask)
  }
}
