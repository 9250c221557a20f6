// For the health check of a container: asks the service beside it whether it is ready, by the same settings.
// An empty setting is one that is not set.
const HOST = process.env.HOST || '127.0.0.1'
const PORT = process.env.PORT || '3000'
const host = { '0.0.0.0': '127.0.0.1', '::': '::1', localhost: '127.0.0.1' }[HOST] ?? HOST
const address = `http://${host.includes(':') ? `[${host}]` : host}:${PORT}/readyz`
try {
  const { status } = await fetch(address, { signal: AbortSignal.timeout(4000) })
  console.log(`${address} answers ${status}.`)
  process.exitCode = status === 200 ? 0 : 1
} catch (error) {
  console.error(`${address} does not answer: ${error.cause?.code ?? error.name}.`)
  process.exitCode = 1
}
