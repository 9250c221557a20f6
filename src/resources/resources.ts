/** The resources of the service, in one list. */
import type { Resource } from '../fields/resource.ts'
import { activity } from './activity.ts'
import { company } from './company.ts'
import { contact } from './contact.ts'
import { currency } from './currency.ts'
import { deal } from './deals/deal.ts'
import { pipeline, pipelineStage } from './pipeline.ts'
import { product } from './product.ts'
import { role } from './role.ts'
import { tag } from './tag.ts'
import { territory } from './territory.ts'
import { token } from './token.ts'
import { user } from './user.ts'
import { view } from './view.ts'
import { webhook } from './webhook.ts'

export const resources: readonly Resource[] = [
  deal,
  product,
  contact,
  company,
  activity,
  user,
  role,
  token,
  territory,
  tag,
  pipeline,
  pipelineStage,
  currency,
  webhook,
  view,
]

/** The names of the resources of business data. */
export const businessData: readonly string[] = resources
  .filter(({ isBusinessData }) => isBusinessData)
  .map(({ name }) => name)
