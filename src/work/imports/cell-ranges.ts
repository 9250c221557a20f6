/** Ranges of dates, moments or times of day as people write them: from and to with a separator (D80). */
import type { Catalog } from '../../fields/catalog.ts'
import { kinds } from '../../fields/kinds.ts'
import { momentIn } from '../../fields/local-times.ts'
import { dayOf, momentOf, timeOf } from '../../files/texts.ts'
import type { JsonObject } from '../../json.ts'
import type { Formats } from './cell-values.ts'
import type { Place } from './targets.ts'

/** Separators of the two ends. A slash or hyphen without blanks counts only if there is no other. */
const separators = [/\s(?:-|to|bis|à|au|\/)\s|–|—|\.\.+/iu, /\//, /-/]

/** Reader of a target's texts: the range as in a body, 'unclear', or null if it is none. */
export function rangeReader(
  { of }: Place,
  { date }: Formats,
  catalog: Catalog,
): (text: string) => JsonObject | 'unclear' | null {
  const output = JSON.stringify(kinds[of.type].schema(of).output)
  const local = momentIn(catalog.account.time_zone)
  const end = (text: string) => {
    if (output.includes('"date-time"')) return momentOf(text, date, local)
    return output.includes('"date"') ? dayOf(text, date) : (timeOf(text)?.slice(0, 5) ?? null)
  }
  return text => {
    for (const separator of separators) {
      const [from, to, ...more] = text.trim().split(separator)
      if (to === undefined || more.length) continue
      const [first, last] = [end(from!.trim()), end(to.trim())]
      if (first === 'unclear' || last === 'unclear') return 'unclear'
      if (first !== null && last !== null) return { range: { from: first, to: last } }
    }
    return null
  }
}
