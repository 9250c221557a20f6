/** An agent: the SDK's own client of the Model Context Protocol, connected to a service under test. */
import { after } from 'node:test'
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { type Json, parseJson } from '../../src/json.ts'

export type AgentReply = {
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what the test is about
  readonly body: any
  readonly text: string
  readonly isError: boolean
  readonly tokens: number
}

export type Agent = {
  readonly client: Client
  /** Calls a tool. */
  use(tool: string, args?: { [name: string]: Json }): Promise<AgentReply>
  /** Calls a tool that writes, and sends the code that it answers. */
  carryOut(tool: string, args: { [name: string]: Json }): Promise<AgentReply>
}

export type Revision = '2025-11-25' | '2026-07-28'
export const revisions: readonly Revision[] = ['2025-11-25', '2026-07-28']

/** The options of a client that speaks this revision. */
export function speaking(revision: Revision): ClientOptions {
  return revision === '2025-11-25' ? {} : { versionNegotiation: { mode: { pin: revision } } }
}

/** Connects an agent by HTTP; it ends with the test file. */
export async function connectAgent(
  { url, token }: { readonly url: string; readonly token: string },
  revision: Revision = '2026-07-28',
  name = 'Test agent',
): Promise<Agent> {
  const client = new Client({ name, version: '1' }, speaking(revision))
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }))
  after(() => client.close())
  return agentOf(client)
}

export function agentOf(client: Client): Agent {
  const use: Agent['use'] = async (tool, args = {}) => {
    const { content, isError = false } = await client.callTool({ name: tool, arguments: args })
    const [item] = content
    const text = item?.type === 'text' ? item.text : ''
    return { body: parseJson(text), text, isError, tokens: tokensOf(text) }
  }
  const carryOut: Agent['carryOut'] = async (tool, args) => {
    const first = await use(tool, args)
    return first.isError ? first : use(tool, { code: first.body.code })
  }
  return { client, use, carryOut }
}

/** The number of tokens, as a language model counts them. */
export function tokensOf(text: string): number {
  return encode(text, { allowedSpecial: 'all' }).length
}
