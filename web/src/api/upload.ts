/** Uploads a file and reports the progress, which `fetch` can't. */
import { base, DealwrightError, sessionEnded, UserError } from './api.ts'

export type Sending = {
  /** share of the bytes, from 0 to 1 */
  readonly onProgress: (part: number) => void
  readonly signal: AbortSignal
}

/** The data of the response. Throws as `callApi` does; a `UserError` if the connection breaks. */
export function upload<T>(
  path: string,
  file: Blob,
  type: string,
  { onProgress, signal }: Sending,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `${base}${path}`)
    request.setRequestHeader('content-type', type)
    request.setRequestHeader('accept', 'application/json')
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onload = () => {
      const { status } = request
      if (status === 401) sessionEnded.set('write')
      const body = json(request.responseText)
      if (status === 201) resolve((body as { data: T }).data)
      else reject(new DealwrightError(new Response(null, { status }), body))
    }
    request.onerror = () =>
      reject(new UserError('The file did not arrive: the service could not be reached.'))
    request.onabort = () => reject(new UserError('The upload was cancelled.'))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}

function json(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
