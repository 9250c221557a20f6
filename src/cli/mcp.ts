/** `dealwright mcp`: the tools of the running service for an agent on this machine (D145). */
import { originOf } from '../config.ts'
import { webUrl } from '../setting-values.ts'
import { type CommandArguments, CommandRefusal, type Terminal } from './command.ts'

/** Serves over standard input and output until the input ends. */
export async function mcp({ config, signal }: Terminal, { url }: CommandArguments): Promise<null> {
  const { agentToken: token } = config
  if (!token)
    throw new CommandRefusal(
      'Set DEALWRIGHT_AGENT_TOKEN to a token for the agent; "dealwright token create" makes one.',
    )
  const address = webUrl(url ?? originOf(config, config.port) ?? '')
  if (!address)
    throw new CommandRefusal('--url must say where the service is, such as https://crm.example.com.')
  // Loaded here, because the SDK would slow every other command down.
  const { serveOverStdio } = await import('../mcp/stdio.ts')
  await serveOverStdio({ url: new URL('/mcp', address), token, signal })
  return null
}
