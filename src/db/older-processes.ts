/** The migrations that leave processes of older versions running, meanwhile and afterwards (D177). */
import type { Migration } from './migrate.ts'

/** The first migration that leaves them running. */
export const firstRolling = 38

/** Later ones for which all older processes must have ended, as "41 name" → why. CHANGELOG says so, too. */
export const stopping: { readonly [migration: string]: string } = {}

export const keyOf = ({ version, name }: Pick<Migration, 'version' | 'name'>): string => `${version} ${name}`

/** Those of the migrations for which all older processes must have ended. */
export function stoppingOf<M extends Pick<Migration, 'version' | 'name'>>(
  migrations: readonly M[],
  reasons = stopping,
): readonly M[] {
  return migrations.filter(one => one.version < firstRolling || Object.hasOwn(reasons, keyOf(one)))
}
