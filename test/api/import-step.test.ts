/** The statements of a step of an import, under the account's lock (D165). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Callers } from '../../src/accounts/callers.ts'
import { statementsOf } from '../../src/mergeable-write.ts'
import type { Transaction } from '../../src/records/store.ts'
import { workOn } from '../../src/records/work.ts'
import { resources } from '../../src/resources/resources.ts'
import { importStep } from '../../src/work/imports/step.ts'
import type { Job } from '../../src/work/jobs/job.ts'
import { readJob } from '../../src/work/jobs/store.ts'
import { untilOneWaits } from '../support/held-lock.ts'
import { importerOf } from '../support/import-jobs.ts'
import { type Reply, startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known } = service
const { upload, count } = importerOf(service)
const [{ name: pipeline }] = (await get(`${v1}/pipeline/view/list`)).body.data
const [{ email: owner }] = (await get(`${v1}/user/view/list`)).body.data
const names = ['title', 'pipeline', 'pipeline_stage', 'sales_owner', 'company.name', 'primary_contact.emails']

/** A file of deals: five have one contact, ten have one company. */
async function fileOf(name: string, rows: number): Promise<Job> {
  const lines = Array.from({ length: rows }, (_, n) => {
    const [company, contact] = [Math.floor(n / 10), Math.floor(n / 5)]
    return [
      `${name} ${n}`,
      pipeline,
      'New',
      owner,
      `${name} Ltd ${company}`,
      `${name}.${contact}@example.com`,
    ]
  })
  const { status, body } = await upload('deal', [names, ...lines].map(line => line.join()).join('\n'))
  assert.equal(status, 201, JSON.stringify(body))
  return (await readJob(db, { account: 1, id: body.data.id }, null))!
}

/** Carries out one step of up to 250 rows. Returns its texts; `before` is called before each of them. */
async function stepOf(job: Job, before: (text: string) => Promise<void> = async () => {}) {
  const caller = (await new Callers(db, resources, () => performance.now()).actingFor(1, known.owner))!
  const texts: string[] = []
  const note = async (text: string) => {
    await before(text)
    texts.push(text)
  }
  const step = await db.transaction({ account: '1' }, async tx => {
    const noting: Transaction = {
      hasOnlyTransactions: tx.hasOnlyTransactions,
      query: async (text, params, replan) => {
        await note(text)
        return tx.query(text, params, replan)
      },
      write: async (account, content) => {
        const statements = statementsOf(content)
        for (const one of statements) await note(one.text)
        return tx.write(account, statements)
      },
    }
    const work = workOn(noting, { ...caller, unread: true as const }, job.resource)
    const result = await importStep({ ...work, job, oldest: new Date(0), count: 250 }, new Set())
    return { commits: true, result }
  })
  return { texts, step }
}

test('a step has the same statements for any number of rows, and looks up nothing twice', async () => {
  const texts: string[][] = []
  for (const [name, rows] of Object.entries({ Few: 60, Many: 240 })) {
    const asked = await stepOf(await fileOf(name, rows))
    assert.equal(asked.step.counts.created, rows, JSON.stringify(asked.step.problems))
    assert.equal(await count('company', `name:like(${name} Ltd)`), rows / 10)
    texts.push(asked.texts)
  }
  const [few, many] = texts
  assert.deepEqual(many, few)
  const tablesIn = (start: RegExp) => few!.flatMap(text => start.exec(text)?.[1] ?? [])
  assert.deepEqual(tablesIn(/INSERT INTO "?(\w+)/), ['company', 'event', 'contact', 'event', 'deal', 'event'])
  assert.deepEqual(tablesIn(/FROM "(user|company|contact)" x WHERE/), ['user', 'company', 'contact'])
  // Besides: the rows of the file, the lock with the version of the catalog, and for each resource the
  // counter and the answer.
  assert.equal(few!.length, 6 + 3 + 1 + 2 + 2 * 3)
})

test('what a step has found stays until its rows are written', async () => {
  const { id } = await service.made('company', { name: 'There Ltd 0' })
  let deleted: Promise<Reply> | undefined
  const { step } = await stepOf(await fileOf('There', 1), async text => {
    if (!text.includes('INSERT INTO "deal"')) return
    deleted = call('DELETE', `${v1}/company/${id}`)
    await untilOneWaits(db)
  })
  assert.equal(step.counts.created, 1, JSON.stringify(step.problems))
  assert.equal((await deleted)!.status, 409)
  assert.equal(await count('deal', `company:eq(${id})`), 1)
})
