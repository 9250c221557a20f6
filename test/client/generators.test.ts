/**
 * Generated clients (D90) know the required members of a new record and of a change, and every member of an
 * answer. GENERATORS names a folder with the generators; as they need another TypeScript than this one, they
 * are no development packages. There, `npm install openapi-typescript@7 @hey-api/openapi-ts orval
 * typescript@5` brings them. The common subset is a law in openapi.test.ts.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startService } from '../support/service.ts'

const folder = process.env.GENERATORS
const skip = !folder && 'GENERATORS names no folder in which they are installed'

const generators = [
  {
    name: 'openapi-typescript',
    args: ['openapi-typescript', 'openapi.json', '-o', 'client.ts'],
    types: `import type { paths } from './client.ts'
type Sent<M extends 'post' | 'patch', P extends keyof paths> =
  paths[P] extends { [m in M]: { requestBody: { content: { 'application/json': infer B } } } } ? B : never
type New = Sent<'post', '/rest/api/v1/deal'>
type Changes = Sent<'patch', '/rest/api/v1/deal/{id}'>
type Deal = paths['/rest/api/v1/deal/{id}']['get']['responses'][200]['content']['application/json']['data']
type Token = paths['/rest/api/v1/token']['post']['responses'][201]['content']['application/json']['data']`,
  },
  {
    name: '@hey-api/openapi-ts',
    args: ['openapi-ts', '-i', 'openapi.json', '-o', 'client', '-p', '@hey-api/typescript'],
    types: `import type { DealCreateData, DealGetResponses, DealUpdateData, TokenCreateResponses } from './client/types.gen.ts'
type New = DealCreateData['body']
type Changes = DealUpdateData['body']
type Deal = DealGetResponses[200]['data']
type Token = TokenCreateResponses[201]['data']`,
  },
  {
    name: 'orval',
    args: ['orval', '--input', 'openapi.json', '--output', 'client.ts', '--client', 'fetch'],
    types: `import type { DealInput, DealNew, DealRead, TokenCreate201 } from './client.ts'
type New = DealNew
type Changes = DealInput
type Deal = DealRead
type Token = TokenCreate201['data']`,
  },
]

const { get, made, known } = await startService()
const needed = {
  ...{ pipeline: known.pipeline, pipeline_stage: known.stages.New! },
  ...{ primary_contact: known.contact, sales_owner: known.owner },
}
const program = `
const needed = ${JSON.stringify(needed)} as const
export const whole: New = { ...needed, title: 'x', metadata: { anything: [1] } }
// @ts-expect-error: a new deal needs more
export const part: New = { title: 'x' }
// @ts-expect-error: and its title
export const rest: New = needed
export const changes: Changes = {}
export const filled: New = { ...whole, cf_floor: 4 }
export const more: Changes = { title: 'x' }
export const told = (deal: Deal, token: Token): [number | null, string | null, string | null] =>
  [deal.id, deal.title, token.token]
`

await made('field', { source: 'deal', field_name: 'Floor', type: 'SINGLE_NUMBER', default_value: 3 })
const { text } = await get('/openapi.json')
const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

for (const { name, args, types } of generators)
  test(`a client by ${name} needs what a new record needs, and no more`, { skip }, async () => {
    const project = mkdtempSync(join(tmpdir(), 'dealwright-generated-'))
    after(() => rmSync(project, { recursive: true, force: true }))
    const [generator, ...rest] = args
    writeFileSync(join(project, 'openapi.json'), text)
    await run(join(folder!, 'node_modules/.bin', generator!), rest, { cwd: project })
    writeFileSync(join(project, 'program.ts'), types + program)
    const compilerOptions = {
      ...{ target: 'es2022', module: 'preserve', lib: ['es2023', 'dom'], types: [], strict: true },
      ...{ noEmit: true, allowImportingTsExtensions: true },
    }
    const config = { compilerOptions, files: ['program.ts'] }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
    await run(join(root, 'node_modules/.bin/tsc'), ['-p', project])
  })
