/**
 * The field list describes lists correctly, for every field of every resource and each of its members: every
 * listed operator is accepted, every other is refused; so with sorts in both directions and with `expand`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operators } from '../../src/fields/term.ts'
import type { Json } from '../../src/json.ts'
import { reports } from '../../src/resources/reports.ts'
import { resources } from '../../src/resources/resources.ts'
import { someOf } from '../support/questions.ts'
import { startService, v1 } from '../support/service.ts'

const { call, get } = await startService()
type Taken = { name: string; is_sortable: boolean; operators: string[] }
type Descriptor = Taken & {
  internal_name: string
  is_filterable: boolean
  is_expandable: boolean
  is_measurable: boolean
  options?: { id: number }[]
  members?: Taken[]
}

/** Values of every kind: the operators of a field accept one of them. */
const values = ['1', '2026-01-31', '09:30', 'USD', 'work', 'true']
/** The operators that take true or false, whatever the field. */
const presence: readonly string[] = ['isnull', 'notnull', 'exists']

for (const { name: resource } of resources) {
  /** The codes of what is wrong with a list; none if it is taken. */
  const problems = async (body: { [name: string]: Json }): Promise<string[]> => {
    const reply = await call('POST', `${v1}/${resource}/view/list`, { ...body, pageSize: 3, count: 'none' })
    assert.ok(
      reply.status === 200 || reply.status === 400,
      `${resource} ${JSON.stringify(body)}: ${reply.status} ${reply.text}`,
    )
    return reply.status === 200 ? [] : reply.body.errors.map(({ code }: { code: string }) => code)
  }
  const checked = async (
    { name: path, is_sortable, operators: named }: Taken,
    options: Descriptor['options'] = [],
  ) => {
    const whole = path.replace('*', 'notes.any')
    const operand = (operator: string, value: string) =>
      presence.includes(operator) ? 'true' : operator === 'between' ? `${value},${value}` : value
    const conditions = (all: readonly string[], value: string) =>
      all.map(operator => `${whole}:${operator}(${operand(operator, value)})`)
    // All of the field list's operators in one list, and all others in one that is refused for each.
    if (named.length > 0) {
      let said: string[] = []
      for (const value of [...options.slice(0, 1).map(({ id }) => String(id)), ...values]) {
        said = await problems({ filter: `or(${conditions(named, value)})` })
        if (!said.includes('invalid_value')) break
      }
      assert.deepEqual(said, [], `${resource} ${path}: ${named}`)
    }
    const others = operators.filter(operator => !named.includes(operator))
    const refused = others.length > 0 ? await problems({ filter: conditions(others, '1') }) : []
    const wanted = others.map(() => 'operator_not_allowed')
    assert.deepEqual(refused, wanted, `${resource} ${path}: ${others}`)
    for (const direction of ['asc', 'desc']) {
      const wanted = is_sortable ? [] : ['not_sortable']
      const said = await problems({ sort: `${whole}:${direction}` })
      assert.deepEqual(said, wanted, `${resource} ${path}:${direction}`)
    }
  }

  test(`${resource}: lists take what the field list says, and nothing else`, async () => {
    const fields: Descriptor[] = (await get(`${v1}/field/list?source=${resource}`)).body.data.fields.flat()
    assert.ok(fields.length > 5)
    const hasSums = reports.some(report => report.resource === resource && report.name === 'aggregate')
    const measured = async (name: string): Promise<string[]> => {
      const { status, body } = await get(`${v1}/${resource}/aggregate?measures=sum:${name}`)
      return status === 200 ? [] : body.errors.map(({ code }: { code: string }) => code)
    }
    for (const field of someOf(fields)) {
      const { internal_name: name, members = [], options } = field
      assert.equal(field.is_filterable, field.operators.length > 0, name)
      await checked({ ...field, name }, options)
      for (const member of members) await checked({ ...member, name: `${name}.${member.name}` })
      if (hasSums) assert.deepEqual(await measured(name), field.is_measurable ? [] : ['not_measurable'], name)
      const wanted = field.is_expandable ? [] : ['not_expandable']
      assert.deepEqual(await problems({ expand: name }), wanted, `${resource} expand ${name}`)
    }
  })
}

test('a field that is out of use is neither filtered, sorted nor expanded, and says so', async () => {
  const made = await call('POST', `${v1}/field`, {
    source: 'deal',
    field_name: 'Contractor',
    type: 'COMPANY',
  })
  assert.equal(made.status, 201, made.text)
  await call('PATCH', `${v1}/field/${made.body.data.id}`, { is_active: false })
  const {
    is_filterable,
    is_sortable,
    is_expandable,
    operators: named,
  } = (await get(`${v1}/field/${made.body.data.id}`)).body.data
  assert.deepEqual(
    { is_filterable, is_sortable, is_expandable, named },
    { is_filterable: false, is_sortable: false, is_expandable: false, named: [] },
  )
})
