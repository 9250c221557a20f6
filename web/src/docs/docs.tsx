/** The frame of the documentation (D140): all pages at the side, on phones folded. It needs no sign-in. */
import { useQuery } from '@tanstack/react-query'
import { CatchBoundary, Link, useParams } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { type KeyboardEvent, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { Failed } from '../shell/failed.tsx'
import { Brand, SkipLink } from '../shell/frame.tsx'
import { LoadError } from '../shell/load-error.tsx'
import { usePageFocus } from '../shell/page-focus.ts'
import { PageSkeleton } from '../shell/page-waiting.tsx'
import { Button } from '../ui/button.tsx'
import { classes, navLink } from '../ui/classes.ts'
import { freeBelow } from '../ui/offsets.ts'
import { Toasts } from '../ui/toast.tsx'
import { DocLink } from './doc-link.tsx'
import { TextPage } from './text-page.tsx'
import { navigationOf, textQuery } from './texts.ts'

const Reference = lazy(() => import('./reference/pages.tsx').then(module => ({ default: module.Reference })))

export function Docs() {
  const { _splat: place = '' } = useParams({ strict: false })
  /** the page over which the list is open; another page closes it */
  const [openOver, setOpenOver] = useState<string | null>(null)
  const isOpen = openOver === place
  usePageFocus()
  return (
    <>
      <SkipLink />
      <div className="md:flex">
        <header
          ref={freeBelow}
          className="sticky top-0 z-20 flex items-center gap-2 border-b border-line bg-canvas px-3 py-2
            md:hidden"
        >
          <Brand to="/docs" />
          <span className="grow" />
          <Button
            aria-expanded={isOpen}
            aria-controls="pages"
            onPress={() => setOpenOver(isOpen ? null : place)}
          >
            <MenuIcon size={15} aria-hidden /> Pages
          </Button>
        </header>
        <Pages isOpen={isOpen} place={place} onClose={() => setOpenOver(null)} />
        <div id="content" className="min-w-0 grow">
          <CatchBoundary getResetKey={() => place} errorComponent={Failed}>
            <Suspense fallback={<PageSkeleton />}>
              <Page key={place} place={place} />
            </Suspense>
          </CatchBoundary>
        </div>
      </div>
      <Toasts />
    </>
  )
}

/** `place`: the address below /docs */
function Page({ place }: { place: string }) {
  const [first = '', resource, ...more] = place.split('/')
  if (first === 'reference' && more.length === 0) return <Reference resource={resource} />
  return <TextPage name={place} />
}

/** The list of pages is part of the first page. */
function Pages({ isOpen, place, onClose }: { isOpen: boolean; place: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery(textQuery(''))
  const list = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current page is another one
  useEffect(() => {
    list.current?.querySelector('li [aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [data, place])
  const closeByKey = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !isOpen) return
    onClose()
    document.querySelector<HTMLElement>('[aria-controls="pages"]')?.focus()
  }
  return (
    <nav
      ref={list}
      id="pages"
      aria-label="Documentation"
      onKeyDown={closeByKey}
      className={classes(
        'overflow-auto border-line bg-canvas p-2 md:sticky md:top-0 md:h-dvh md:w-[250px] md:shrink-0 md:border-r',
        'max-md:fixed max-md:inset-x-0 max-md:top-[49px] max-md:z-20 max-md:max-h-[calc(100dvh-49px)]',
        'max-md:border-b max-md:shadow-float',
        !isOpen && 'max-md:hidden',
      )}
    >
      <div className="px-2 py-1 max-md:hidden">
        <Brand to="/docs" />
      </div>
      {/* Loaded on the press: a guest's requests would be refused. */}
      <Link to="/board" preload={false} className={navLink}>
        Open Dealwright
      </Link>
      <LoadError error={error} onRetry={() => void refetch()} />
      {navigationOf(data ?? []).map(({ title, links }) => (
        <section key={title} aria-labelledby={`pages-${title}`}>
          <h2 id={`pages-${title}`} className="px-2.5 pt-3 pb-1 text-xs font-medium text-ink-faint">
            {title}
          </h2>
          <ul>
            {links.map(({ href, text }) => (
              <li key={href}>
                <DocLink href={href} className={navLink} onClick={onClose}>
                  {text}
                </DocLink>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}
