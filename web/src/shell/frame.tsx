/** The parts that the frame of the pages and that of the documentation share. */
import { Link } from '@tanstack/react-router'

export function Brand({ to }: { to: '/board' | '/docs' }) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: true }}
      className="flex min-h-8 items-center gap-2.5 text-lg font-semibold"
    >
      <img src="/favicon.svg" alt="" width={22} height={22} />
      Dealwright
    </Link>
  )
}

export function SkipLink() {
  return (
    <a
      href="#content"
      className="unseen focus:not-[.x]:static focus:m-2 focus:size-auto focus:[clip-path:none]"
    >
      Skip to the content
    </a>
  )
}
