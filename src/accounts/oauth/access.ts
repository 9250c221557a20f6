/**
 * The access that a person may allow a program (D170): three choices, and the scopes of each, never more than
 * their own. Pure.
 */
import { businessData } from '../../resources/resources.ts'
import { allows, directScope } from '../../rights/scopes.ts'

export const accesses = ['read', 'write', 'write_at_once'] as const
export type Access = (typeof accesses)[number]

const readable = [
  ...businessData,
  ...['user', 'territory', 'tag', 'pipeline', 'pipeline_stage', 'currency', 'field', 'event'],
].map(name => `${name}:read`)
const writable = businessData.map(name => `${name}:write`)

/** The scopes of a choice, as far as the person has them. */
export function scopesOf(access: Access, own: ReadonlySet<string>): string[] {
  const all = [
    ...readable,
    ...(access === 'read' ? [] : writable),
    ...(access === 'write_at_once' ? [directScope] : []),
  ]
  return all.filter(scope => allows(own, scope))
}

/** The choices that give the person's program something more than the one before. */
export function choicesOf(own: ReadonlySet<string>): Access[] {
  return accesses.filter((access, index) => {
    const before = accesses[index - 1]
    return !before || scopesOf(access, own).length > scopesOf(before, own).length
  })
}

/**
 * The choice that a program asks for by the parameter `scope`; without one, to write. None is offered
 * writing at once: most ask for every scope that there is, and the person would have to notice.
 */
export function askedFor(scope: string | undefined): Access {
  const asked = (scope ?? '').split(' ')
  return asked.includes('read') && !asked.some(one => one.startsWith('write')) ? 'read' : 'write'
}
