import { PageHead } from '../ui/page.tsx'

export function Board() {
  return (
    <main>
      <PageHead title="Board" />
    </main>
  )
}
