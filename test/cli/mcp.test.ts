/** `dealwright mcp` (D145): the same tools over standard input and output. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { agentOf, revisions, speaking } from '../support/agent.ts'
import { startService, v1 } from '../support/service.ts'

const { get, token, url } = await startService({ sampleData: false })
const command = { command: process.execPath, args: ['bin/dealwright.js', 'mcp', '--url', url] }

async function connected(revision: (typeof revisions)[number], secret = token) {
  const client = new Client({ name: 'Desktop', version: '1' }, speaking(revision))
  const env = { ...process.env, DEALWRIGHT_AGENT_TOKEN: secret } as Record<string, string>
  await client.connect(new StdioClientTransport({ ...command, env, stderr: 'inherit' }))
  after(() => client.close())
  return agentOf(client)
}

for (const revision of revisions)
  test(`tools over standard input and output: ${revision}`, async () => {
    const { client, use, carryOut } = await connected(revision)
    assert.equal(client.getNegotiatedProtocolVersion(), revision)
    assert.equal((await client.listTools()).tools.length, 10)
    assert.match((await use('describe')).body.role, /Administrator/)
    const { body } = await carryOut('create', { resource: 'company', values: { name: `By ${revision}` } })
    const [event] = (await get(`${v1}/company/${body.id}/history`)).body.data
    assert.deepEqual([event.actor.origin, event.actor.client], ['mcp', 'Desktop'])
    const wrong = await use('list', { resource: 'nothing' })
    assert.ok(wrong.isError)
  })

test('a token that is refused, and a service that is away', async () => {
  const stranger = await connected('2026-07-28', 'x'.repeat(40))
  const refused = await stranger.use('describe')
  assert.ok(refused.isError)
  assert.match(refused.body.error, /unknown, expired or revoked/)
})

async function run(args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, ['bin/dealwright.js', 'mcp', ...args], {
    env: { ...process.env, ...env },
  })
  let said = ''
  child.stderr.on('data', text => {
    said += text
  })
  child.stdin.end()
  const [code] = await once(child, 'close')
  return { code, said }
}

test('what is missing is said in one line', async () => {
  const without = await run(['--url', url], { DEALWRIGHT_AGENT_TOKEN: '' })
  assert.deepEqual([without.code, /DEALWRIGHT_AGENT_TOKEN/.test(without.said)], [1, true], without.said)
  const plain = await run(['--url', 'http://crm.example.com'], { DEALWRIGHT_AGENT_TOKEN: token })
  assert.deepEqual([plain.code, /https/.test(plain.said)], [1, true], plain.said)
  const ended = await run(['--url', url], { DEALWRIGHT_AGENT_TOKEN: token })
  assert.deepEqual([ended.code, ended.said], [0, ''])
})
