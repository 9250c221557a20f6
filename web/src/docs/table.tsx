/** A table of the documentation. On a phone each row is a block, and each cell has its column's name. */
import type { ReactNode } from 'react'
import { Scrollable } from './scrollable.tsx'

export function Table({ head, children }: { head?: readonly ReactNode[]; children: ReactNode }) {
  return (
    <Scrollable className="my-3">
      <table className="w-full text-left text-base max-md:block">
        {head && (
          <thead className="max-md:hidden">
            <tr>
              {head.map((name, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other name
                <th key={index} className="border-b border-line-strong py-1.5 pr-4 font-medium">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody className="max-md:block">{children}</tbody>
      </table>
    </Scrollable>
  )
}

export function Row({ id, children }: { id?: string | undefined; children: ReactNode }) {
  return (
    <tr id={id} className="max-md:block max-md:border-b max-md:border-line max-md:py-1.5">
      {children}
    </tr>
  )
}

/** `label`: the name of its column, for a phone. */
export function Cell({ label, children }: { label?: string; children: ReactNode }) {
  return (
    <td className="border-line py-1.5 pr-4 align-top max-md:block max-md:py-0.5 md:border-b">
      {label && <span className="text-sm text-ink-faint md:hidden">{label}: </span>}
      {children}
    </td>
  )
}
