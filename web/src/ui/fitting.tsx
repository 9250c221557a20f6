/**
 * Amounts in little room. An amount is never truncated: without room, a short form replaces it. Tooltip,
 * screen readers and the clipboard get the whole one.
 */

/** The whole amount if it has room, else the short one. `title` has more detail than is shown. */
export function Fitting({ whole, short, title = whole }: { whole: string; short: string; title?: string }) {
  return (
    <span className="fitting tabular" title={title}>
      <span aria-hidden data-short={short} />
      <span>{whole}</span>
    </span>
  )
}

/** Always the short amount. */
export function Short({ whole, short, title = whole }: { whole: string; short: string; title?: string }) {
  return (
    <span className="tabular" title={title}>
      <span aria-hidden className="before:content-[attr(data-short)]" data-short={short} />
      <span className="unseen">{whole}</span>
    </span>
  )
}
