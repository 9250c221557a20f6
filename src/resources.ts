/** The resources of the service, in one list. */
import { activity } from './activities/activity.ts'
import { company } from './companies/company.ts'
import { contact } from './contacts/contact.ts'
import { currency } from './currencies/currency.ts'
import { deal } from './deals/deal.ts'
import { pipeline, pipelineStage } from './pipelines/pipeline.ts'
import { product } from './products/product.ts'
import type { Resource } from './records/resource.ts'
import { role } from './roles/role.ts'
import { tag } from './tags/tag.ts'
import { territory } from './territories/territory.ts'
import { token } from './tokens/token.ts'
import { user } from './users/user.ts'
import { view } from './views/view.ts'
import { webhook } from './webhooks/webhook.ts'

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
