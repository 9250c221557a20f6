/** The reader's formats of numbers, money, dates and times. */
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { type Formats, formats } from './format.ts'

const FormatContext = createContext<Formats>(formats({ locale: 'en-US', timeZone: 'UTC' }))

export const useFormat = (): Formats => useContext(FormatContext)

export function FormatProvider(props: { locale: string; timeZone: string; children: ReactNode }) {
  const { locale, timeZone, children } = props
  const value = useMemo(() => formats({ locale, timeZone }), [locale, timeZone])
  return <FormatContext value={value}>{children}</FormatContext>
}
