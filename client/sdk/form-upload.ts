interface FormRequest {
  method: string
  headers: Record<string, string>
  body: FormData
  signal: AbortSignal
}

/** How much of a form is sent is told by `XMLHttpRequest` alone, which sends the cookies of its own origin whatever it is told. */
export const canTell = (url: string, credentials: RequestCredentials): boolean =>
  typeof XMLHttpRequest !== 'undefined' &&
  (credentials !== 'omit' || new URL(url, location.href).origin !== location.origin)

/** Sends a form as `fetch` does, and tells the share of it that is sent, from 0 to 1. */
export function sendForm(url: string, request: FormRequest, sent: (share: number) => void): Promise<Response> {
  const { method, headers, body, signal } = request
  return new Promise((resolve, reject) => {
    const asked = new XMLHttpRequest()
    const abort = () => asked.abort()
    asked.open(method, url)
    for (const [name, value] of Object.entries(headers)) asked.setRequestHeader(name, value)
    asked.upload.onprogress = ({ loaded, total }) => sent(total > 0 ? loaded / total : 0)
    asked.onload = () => resolve(new Response(asked.responseText, { status: asked.status }))
    asked.onerror = () => reject(new TypeError('The form could not be sent'))
    asked.onabort = () => reject(signal.reason)
    asked.onloadend = () => signal.removeEventListener('abort', abort)
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', abort)
    asked.send(body)
  })
}
