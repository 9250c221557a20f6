/**
 * Amounts where there is little room. An amount is never cut: where it has no room, a short form stands for
 * it. What is pointed at, read by a screen reader or copied is the whole one.
 */

/** The whole amount where it has room, else the short one. `title` says it with more than it shows. */
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
