/** A sentence about a page of the settings, with a link to the documentation. */
import { Link } from '@tanstack/react-router'

/** `page`: below /docs */
export function Explained({ text, page, link }: { text: string; page: string; link: string }) {
  return (
    <>
      {text}{' '}
      <Link to="/docs/$" params={{ _splat: page }} className="linked">
        {link}
      </Link>
    </>
  )
}
