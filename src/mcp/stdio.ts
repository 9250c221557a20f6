/**
 * The Model Context Protocol over standard input and output, for programs that start their servers themselves
 * (D145). Each call of a tool is sent to /mcp of the running service, so all is judged and carried out there.
 * Knows no tool's work.
 */
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { isObject, type JsonObject, parseJson } from '../json.ts'
import { agentNameOf } from './agents.ts'
import { definitions, identity, instructions } from './server.ts'

const revision = '2026-07-28'

export type Relay = {
  /** address of the service's /mcp */
  readonly url: URL
  readonly token: string
  readonly signal: AbortSignal
}

/** Serves until standard input ends or the signal is aborted. */
export async function serveOverStdio(relay: Relay): Promise<void> {
  const ended = Promise.withResolvers<void>()
  const served = serveStdio(() => relaying(relay))
  for (const name of ['end', 'close', 'error']) process.stdin.once(name, () => ended.resolve())
  relay.signal.addEventListener('abort', () => ended.resolve(), { once: true })
  await ended.promise
  await served.close()
}

function relaying(relay: Relay): Server {
  const server = new Server(identity, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', () => ({ tools: definitions }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    const own = server.getClientVersion()
    const client =
      agentNameOf({ params: { _meta: mcpReq.envelope as JsonObject } }) ?? own?.title ?? own?.name
    const { content, isError } = await callTool(relay, name, args as JsonObject, client ?? identity.name)
    return { content, isError }
  })
  return server
}

let lastId = 0

type Result = {
  readonly content: { readonly type: 'text'; readonly text: string }[]
  readonly isError: boolean
}

/** Sends the call in the revision in which each request stands for itself. */
async function callTool(
  { url, token, signal }: Relay,
  name: string,
  args: JsonObject,
  client: string,
): Promise<Result> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: client, version: '0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name, arguments: args, _meta: meta }
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' },
        ...{ 'content-type': 'application/json', 'mcp-protocol-version': revision },
        ...{ 'mcp-method': 'tools/call', 'mcp-name': name },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method: 'tools/call', params }),
      signal,
    })
    return resultOf(parseJson(await response.text()))
  } catch (error) {
    const { message } = ((error as Error).cause ?? error) as Error
    return failed(`The service at ${url.origin} does not answer: ${message}`)
  }
}

/** The result, or why there is none: a problem of the service, or an error of the protocol. */
function resultOf(answer: unknown): Result {
  const { result, error, detail } = isObject(answer) ? answer : {}
  if (isObject(result)) return result as unknown as Result
  return failed(isObject(error) ? String(error.message) : String(detail ?? 'The service gave no answer.'))
}

function failed(text: string): Result {
  return { content: [{ type: 'text', text: JSON.stringify({ error: text }) }], isError: true }
}
