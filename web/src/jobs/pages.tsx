/** The pages of imports and jobs, in one chunk: the entry of the UI names one file for all. */
import { useMatch } from '@tanstack/react-router'
import { ImportPage } from '../imports/import-page.tsx'
import { NewImport } from '../imports/new-import.tsx'
import { JobPage } from './job-page.tsx'
import { Jobs } from './jobs.tsx'

/** The page of the address: /import and /jobs, and one of each. */
export function Pages() {
  // The address may already be that of the next page, which is not yet loaded.
  const route = String(useMatch({ strict: false, select: ({ routeId }) => routeId }))
  switch (route) {
    case '/shell/import':
      return <NewImport />
    case '/shell/import/$id':
      return <ImportPage />
    case '/shell/jobs/$id':
      return <JobPage />
    default:
      return <Jobs />
  }
}
