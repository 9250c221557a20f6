/** Exported names and files use the field's words: a former word is refused, with the one in its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sources } from './sources.ts'

/** Former name → today's. A name in quotation marks, such as a member of an answer, is none of these. */
const renamed: { readonly [name: string]: string } = {
  Viewer: 'Caller',
  Acting: 'AuthorizedCaller',
  Asker: 'Caller',
  Listener: 'Caller',
  Administrator: 'ConfigurationContext',
  Visitor: 'Client',
  Guest: 'AdmittedRequest',
  Admitted: 'AuthenticatedRequest',
  Whence: 'SignInOrigin',
  sightOf: 'callerParamsOf',
  sightValues: 'callerParamValues',
  ResourceFields: 'ResourceSchema',
  Queryable: 'Transaction',
  Transactional: 'Transaction',
  BytesReader: 'RawReader',
  ListDatabase: 'RawReader',
  QueueDatabase: 'Reader',
  ServedDatabase: 'Database',
  WrittenDatabase: 'Database',
  JobDatabase: 'Database',
  ExportDatabase: 'Database',
  Backend: 'Driver',
  Session: 'Connection',
  SessionPool: 'ConnectionPool',
  AskTogether: 'AskBatch',
  complaint: 'checkSendable',
  Complaint: 'OperandProblem',
  withNames: 'resolveNames',
  needNames: 'requireReadScopes',
  holdersOfNames: 'matchesOfNames',
  telling: 'notifyAfterWrite',
  Followers: 'Subscribers',
  toldEvents: 'presentEvents',
  toldConfiguration: 'presentConfiguration',
  Keeps: 'Invariant',
  savedBefore: 'findIdempotentResponse',
  savedAgain: 'renderReplay',
  problemAgain: 'replayedProblem',
  validatedRecord: 'validateRecord',
  judged: 'applyRules',
  judgeUpdate: 'validateUpdate',
  judgeRemoval: 'validateRemoval',
  stillThere: 'referencesExist',
  roomFor: 'quotaConditions',
  deletedParts: 'cascadeDelete',
  derive: 'backfill',
  success: 'okAnswer',
  Findings: 'Validation',
  fateOf: 'purgeState',
  listParted: 'pagesByValue',
  wholeStatement: 'scanStatement',
  recordsInSteps: 'scanInSteps',
  askedOf: 'subscriptionOf',
  alone: 'withAccountsLock',
}

/** Words that say nothing of what a type or a function is. */
const vague = /^(?:Given|Asked|Told|Known|Made|Kept|Said|Seen|Wanted|Looked|Judged|told|seen|kept|made|said)$/

/** Former file names. */
const files =
  /\/(?:told|told-configuration|followers|as-it-was|records-at|whom|findings|most|parts|derive|parted|whole|session|sendable|visitor)\.ts$/

const declared =
  /^export (?:async )?(?:abstract )?(?:type|interface|class|function\*?|const|let) (\w+)|^export const \[(.+?)\]/gm

test('exported names are those of the field', () => {
  const offenders = sources('src/**/*.ts').flatMap(({ path, text }) =>
    [...text.matchAll(declared)]
      .flatMap(([, name, several]) => (name ? [name] : several!.split(', ')))
      .filter(name => Object.hasOwn(renamed, name) || vague.test(name))
      .map(name => `${path}: ${name} → ${renamed[name] ?? 'the noun for what it is'}`),
  )
  assert.deepEqual(offenders, [])
})

test('files are named after what they do', () => {
  const offenders = sources('src/**/*.ts').filter(({ path }) => files.test(path))
  assert.deepEqual(
    offenders.map(({ path }) => path),
    [],
  )
})
