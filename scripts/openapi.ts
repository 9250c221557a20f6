/**
 * Writes docs/api/openapi.json, the OpenAPI document of the service itself, and from it the client's types
 * and the names of its resources: `npm run openapi`. A change that would break clients is not written
 * without `--break` (D91).
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { baseCatalog, openApi } from '../src/http/openapi/document.ts'
import { resourceNamesOf, typesOf } from '../src/http/openapi/typescript.ts'
import { routes } from '../src/http/routes.ts'
import { parseJson } from '../src/json.ts'
import { breakingChanges } from './breaking-changes.ts'

const path = 'docs/api/openapi.json'
// No route is called, so none needs its dependencies.
const table = routes({} as never)
const document = `${JSON.stringify(parseJson(await openApi(baseCatalog, table)), null, 2)}\n`
const broken = breakingChanges(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(document))
if (broken.length && !process.argv.includes('--break')) {
  console.error(`This would break clients:\n${broken.join('\n')}\nTo write it all the same, add --break.`)
  process.exitCode = 1
} else {
  writeFileSync(path, document)
  writeFileSync('client/src/schemas.ts', typesOf(baseCatalog))
  writeFileSync('client/src/resource-names.ts', resourceNamesOf(baseCatalog))
}
