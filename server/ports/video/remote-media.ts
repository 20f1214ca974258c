import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http'
import { AppError } from '#shared/errors'
import type { MediaAnswer, MediaOrigin } from './port.ts'

/** Longer than a held playlist: three times the longest segment. */
const mostMilliseconds = 35_000
const mostBytes = 64 * 2 ** 20
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date']

/** Fetches whole media answers from other nodes. */
export interface RemoteMedia {
  /** Throws SERVICE_UNAVAILABLE if the answer is late or incomplete. */
  get(origin: MediaOrigin, path: string): Promise<MediaAnswer>
  /** Ends requests to hosts that are away. */
  giveUp(isAway: (origin: MediaOrigin) => boolean): void
}

export function remoteMedia(): RemoteMedia {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64, timeout: 120_000 })
  const asked = new Map<ClientRequest, MediaOrigin>()
  return {
    async get(origin, path) {
      const { host, port, headers } = origin
      const there = request({ agent, host, port, path, headers })
      const late = setTimeout(() => there.destroy(new Error('It did not answer in time')), mostMilliseconds)
      asked.set(there, origin)
      try {
        const answer = await answerOf(there)
        if (answer.status === 403) throw new Error('It does not know this node')
        return answer
      } catch (cause) {
        there.destroy()
        throw new AppError('SERVICE_UNAVAILABLE', { cause })
      } finally {
        clearTimeout(late)
        asked.delete(there)
      }
    },
    giveUp(isAway) {
      for (const [there, origin] of asked) if (isAway(origin)) there.destroy(new Error('It is away'))
    },
  }
}

function answerOf(there: ClientRequest): Promise<MediaAnswer> {
  return new Promise((resolve, reject) => {
    there.once('error', reject)
    there.once('response', async (answer) => {
      const parts: Buffer[] = []
      let bytes = 0
      try {
        for await (const part of answer as AsyncIterable<Buffer>) {
          bytes += part.length
          if (bytes > mostBytes) throw new Error(`It answers with more than ${mostBytes} bytes`)
          parts.push(part)
        }
        resolve({ status: answer.statusCode ?? 502, headers: headersOf(answer.headers), body: Buffer.concat(parts) })
      } catch (error) {
        reject(error)
      }
    })
    there.end()
  })
}

const headersOf = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !ofConnection.includes(name) ? [[name, value] as const] : [],
    ),
  )
