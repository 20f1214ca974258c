import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const Body = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.string().nullish() })).optional(),
  /** Texts to embed, or the items of the Responses interface. */
  input: z
    .array(z.union([z.string(), z.looseObject({ role: z.string().optional(), content: z.string().optional() })]))
    .optional(),
})

export interface ModelRequest {
  path: string
  body: z.output<typeof Body>
  headers: IncomingMessage['headers']
  /** When the client has closed the connection before the answer was whole. */
  dropped: Promise<void>
}

type Behaviour = (response: ServerResponse, request: ModelRequest) => void | Promise<void>

/** A server with OpenAI's interface. Each request gets the next behaviour of the test; the last one repeats. */
export async function openModelServer() {
  const asked: ModelRequest[] = []
  let behaviours: Behaviour[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const dropped = new Promise<void>((resolve) =>
      response.once('close', () => !response.writableFinished && resolve()),
    )
    const { url: path = '', headers } = request
    const one = { path, headers, dropped, body: Body.parse(JSON.parse(Buffer.concat(parts).toString() || '{}')) }
    asked.push(one)
    response.on('error', () => {})
    await (behaviours.length > 1 ? behaviours.shift() : behaviours[0])?.(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    behave(...next: Behaviour[]) {
      behaviours = next
      asked.length = 0
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const line = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

export const delta = (told: object, finish: string | null = null) =>
  line({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: told, finish_reason: finish }] })

export const texts = (...words: string[]) => words.map((content) => delta({ content })).join('')

export const usage = line({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })
export const done = line('[DONE]')
export const finish = (reason = 'stop') => delta({}, reason)
export const whole = (...words: string[]) => texts(...words) + finish() + usage + done

export const begin = (response: ServerResponse, type = 'text/event-stream') =>
  response.writeHead(200, { 'content-type': type })

/** Answers with these bytes, and ends. */
export const says = (text: string | Buffer, type?: string) => (response: ServerResponse) =>
  void begin(response, type).end(text)

/** Answers with these bytes, and leaves the connection open. */
export const hangsAfter = (text: string) => (response: ServerResponse) => void begin(response).write(text)

export const answers = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

/** Embeds each text as three numbers. */
export const embeds: Behaviour = (response, { body: { input = [] } }) =>
  answers(200, { data: input.map((text, index) => ({ index, embedding: [String(text).length, 1, 0] })).reverse() })(
    response,
  )
