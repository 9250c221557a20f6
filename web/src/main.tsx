/** The start of the web UI. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { UnsavedGuard } from './records/editing/use-unsaved-guard.ts'
import { router } from './routes.tsx'
import { followUser, loadAfresh } from './shell/me.ts'
import { applyPreferences, followPreferences } from './shell/preferences.ts'
import { followPresses } from './ui/after-press.ts'
import { LeaveGuard } from './ui/leave-guard.ts'
import './styles.css'

applyPreferences()
followPreferences()
followPresses()
followUser(() => loadAfresh(router.history))
createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <LeaveGuard value={UnsavedGuard}>
      <RouterProvider router={router} />
    </LeaveGuard>
  </QueryClientProvider>,
)
