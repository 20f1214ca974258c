import { z } from 'zod'
import { AppError } from '#shared/errors'
import { resultOf, type SendRequest, type Session, toolsOf } from './session.ts'

const Answer = z.object({ id: z.union([z.string(), z.number()]), result: z.record(z.string(), z.unknown()) })

/** For servers that know `tools/list` and `tools/call` alone, without a handshake. */
export function rawSession(url: string, asking: SendRequest): Session {
  let last = 0
  return {
    async list(signal) {
      return toolsOf((await ask('tools/list', {}, signal)).tools)
    },
    async call(name, given, signal) {
      return resultOf(await ask('tools/call', { name, arguments: given }, signal))
    },
  }

  async function ask(method: string, params: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    const id = ++last
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const { status, headers, body: bytes } = await asking(url, body, acceptable, signal)
    const text = new TextDecoder().decode(bytes)
    const isStream = headers['content-type']?.includes('text/event-stream') ?? false
    const found = (isStream ? linesOf(text) : [text]).map((line) => Answer.safeParse(readJson(line)).data)
    const answer = found.find((one) => one !== undefined && String(one.id) === String(id))
    if (status !== 200 || !answer)
      throw new AppError('UPSTREAM_ERROR', { cause: new Error(`The tool server answered ${status}`) })
    return answer.result
  }
}

const acceptable = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

const linesOf = (text: string) => [...text.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data)

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
