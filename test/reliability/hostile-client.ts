/**
 * Sends requests over HTTP from a thread of its own, so that the client's cost is not counted as the
 * service's.
 */
import { request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import type { HostileRequest } from './hostile-requests.ts'

const { url, token } = workerData as { url: string; token: string }

parentPort!.on('message', ({ method, path, headers, body }: HostileRequest) => {
  const type =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const sent = request(
    url + path,
    { method, headers: { authorization: `Bearer ${token}`, ...type, ...headers } },
    response => {
      response.resume()
      response.on('end', () => parentPort!.postMessage(response.statusCode))
    },
  )
  sent.on('error', error => parentPort!.postMessage(error.message))
  sent.end(body)
})
