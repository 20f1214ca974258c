import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { z } from 'zod'
import { localServer } from './web.ts'

const Body = z.looseObject({ id: z.string(), type: z.string(), seq: z.number().optional() })

/** One delivery that came. */
export interface Delivered {
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: z.output<typeof Body>
}

/** A status, or what is answered in another way. */
type Answering = number | ((response: ServerResponse, delivered: Delivered) => void)

/** A server that receives webhooks. It accepts all, unless a path has another answer. */
export async function receiver() {
  const came: Delivered[] = []
  const answers = new Map<string, Answering>()
  const server = await localServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const text = Buffer.concat(parts).toString()
    const delivered = { path: request.url ?? '', headers: request.headers, text, body: Body.parse(JSON.parse(text)) }
    came.push(delivered)
    const answer = answers.get(delivered.path) ?? 204
    if (typeof answer === 'number') response.writeHead(answer).end()
    else answer(response, delivered)
  })
  return {
    server,
    answers,
    at: (path: string) => came.filter((one) => one.path === path),
    /** The texts of the messages that came to a path. */
    textsAt: (path: string) => came.filter((one) => one.path === path).map(({ text }) => textIn(text)),
  }
}

const Said = z.looseObject({ data: z.looseObject({ message: z.looseObject({ content: z.string() }).optional() }) })
const textIn = (text: string) => Said.parse(JSON.parse(text)).data.message?.content ?? null

/** Which of these secrets a delivery is signed with, as a receiver finds it out. */
export function signedBy({ headers, text }: Delivered, secrets: readonly string[]): string[] {
  const [id, time, given] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]))
  const signatures = given?.split(' ') ?? []
  return secrets.filter((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return signatures.includes(`v1,${createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64')}`)
  })
}
