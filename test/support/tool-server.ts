import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { z } from 'zod'

const Asked = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ name: z.string().optional(), arguments: z.unknown().optional() }).optional(),
})
type Asked = z.output<typeof Asked>

export const foxTool = {
  name: 'find_fox',
  description: 'Finds a fox by its colour.',
  inputSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
}

/** Every request that came, with its headers. */
export interface Heard {
  method: string
  headers: IncomingMessage['headers']
  given: unknown
}

/** A server that knows `tools/list` and `tools/call` alone, behind a handshake or without one. */
export function toolServer({
  handshake,
  heard = [],
  tools = [foxTool],
  call = ({ params }) => ({ content: [{ type: 'text', text: `A fox: ${JSON.stringify(params?.arguments)}` }] }),
}: {
  handshake: boolean
  heard?: Heard[]
  tools?: unknown
  call?: (asked: Asked) => object | 'silent' | 'flood'
}): RequestListener {
  return async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const asked = Asked.parse(JSON.parse(Buffer.concat(parts).toString()))
    heard.push({ method: asked.method, headers: request.headers, given: asked.params?.arguments })
    if (asked.id === undefined) return void response.writeHead(202).end()
    const result = resultOf(asked)
    if (result === 'silent') return
    if (result === 'flood') return flood(response)
    const told = result ? { result } : { error: { code: -32601, message: 'Method not found' } }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...told }))
  }

  function resultOf(asked: Asked): object | 'silent' | 'flood' | null {
    if (asked.method === 'tools/list') return { tools }
    if (asked.method === 'tools/call') return call(asked)
    if (asked.method !== 'initialize' || !handshake) return null
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'foxes', version: '1' } }
  }
}

/** 60 MB. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  let left = 960
  const more = () => {
    if (left-- > 0 && !response.destroyed) response.write('x'.repeat(64 * 1024), more)
    else response.end()
  }
  more()
}
