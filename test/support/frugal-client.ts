import { Agent, request } from 'node:http'
import type { Operation } from '#shared/kit/contract'
import { fileOf } from '#shared/kit/json-schema'
import { pngOf } from './pictures.ts'

/** A client over one connection with little overhead, which reads only the beginning of a sequence. */
export function frugalClient(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    close: () => agent.destroy(),
    ask: (
      { operation, method, path }: { operation: Operation; method: string; path: string },
      token: string,
      fields: Record<string, unknown> | null,
    ) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const { type, body } = bodyOf(operation, fields)
        const headers = { authorization: `Bearer ${token}`, 'content-type': type, 'content-length': body.length }
        const asked = request(url + path, { agent, method, headers }, (response) => {
          const parts: Buffer[] = []
          const end = () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() })
          response.on('end', end).on('error', end)
          response.on('data', (part: Buffer) => {
            parts.push(part)
            if (!operation.stream) return
            response.destroy()
            end()
          })
        })
        asked.on('error', reject).setTimeout(60_000, () => asked.destroy(new Error(`No answer: ${method} ${path}`)))
        asked.end(body)
      }),
  }
}

/** JSON, or a form with a small picture where the operation takes a file. */
function bodyOf(operation: Operation, fields: Record<string, unknown> | null): { type: string; body: Buffer } {
  const json = 'application/json'
  if (fields === null) return { type: json, body: Buffer.alloc(0) }
  const { field } = fileOf(operation) ?? {}
  if (field === undefined) return { type: json, body: Buffer.from(JSON.stringify(fields)) }
  const part = (name: string, rest: string) => `--x\r\nContent-Disposition: form-data; name="${name}"${rest}`
  const texts = Object.entries(fields).map(([name, value]) => part(name, `\r\n\r\n${value}\r\n`))
  const file = part(field, '; filename="a.png"\r\nContent-Type: image/png\r\n\r\n')
  const body = Buffer.concat([Buffer.from(texts.join('') + file), pngOf(), Buffer.from('\r\n--x--\r\n')])
  return { type: 'multipart/form-data; boundary=x', body }
}
