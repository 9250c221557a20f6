/** The event types of a webhook's filter (D69, D72), in words. Pure. */

const resources = {
  deal: 'a deal',
  contact: 'a contact',
  company: 'a company',
  product: 'a product',
  activity: 'an activity',
  user: 'a user',
}
const verbs = {
  '*': 'any event of',
  created: 'somebody creates',
  updated: 'somebody changes',
  deleted: 'somebody deletes',
  restored: 'somebody restores',
}
const meant = {
  'deal.won': 'A deal is won',
  'deal.lost': 'A deal is lost',
  'deal.stage_changed': 'A deal changes its stage',
  'deal.owner_changed': 'A deal changes its owner',
  'deal.reopened': 'A deal is open again',
}

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`

export const eventTypes: readonly { readonly id: string; readonly name: string }[] = [
  ...Object.entries(meant).map(([id, name]) => ({ id, name: `${name} (${id})` })),
  ...Object.entries(resources).flatMap(([resource, what]) =>
    Object.entries(verbs).map(([verb, phrase]) => ({
      id: `${resource}.${verb}`,
      name: `${sentence(phrase)} ${what} (${resource}.${verb})`,
    })),
  ),
  { id: '*', name: 'Everything that happens (*)' },
]
