/** Asks before Back, a link or a reload leaves the page of a dialog; from whoever knows the router. */
import { type ComponentType, createContext } from 'react'

export const LeaveGuard = createContext<ComponentType<{ isUnsaved: boolean; question: string }>>(() => null)
