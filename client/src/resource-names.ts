// Made from the service's OpenAPI document. It is not to be changed by hand.

export const resourceNames = [
  'deal',
  'product',
  'contact',
  'company',
  'activity',
  'user',
  'role',
  'token',
  'territory',
  'tag',
  'pipeline',
  'pipeline_stage',
  'currency',
  'webhook',
  'view',
] as const
