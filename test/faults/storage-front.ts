import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** As it should be; or it answers 500, or not at all, breaks a body off on the way in, or loses the answer to what it has done. */
export type StorageMood = 'well' | 'failing' | 'silent' | 'half' | 'lost'

/** What nodes take for the object storage: it passes requests on, and fails as such a service does. */
export async function openStorageFront(port: number) {
  const server = createServer((asked, answer) => pass(asked, answer))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mood: 'well' as StorageMood,
    /** Requests that failed because of the mood. */
    spoilt: 0,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return front

  function pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { mood } = front
    if (mood !== 'well') front.spoilt++
    if (mood === 'silent') return
    if (mood === 'failing') return void answer.writeHead(500).end('<Error><Code>InternalError</Code></Error>')
    const { method = 'GET', url: path = '/', headers } = asked
    const passed = request({ host: '127.0.0.1', port, method, path, headers })
    const fail = () => {
      passed.destroy()
      answer.destroy()
    }
    passed.once('error', fail)
    asked.once('error', fail)
    passed.once('response', (told) => {
      if (mood === 'lost') return fail()
      answer.writeHead(told.statusCode ?? 502, told.headers)
      told.once('error', fail).pipe(answer)
    })
    if (mood !== 'half') return void asked.pipe(passed)
    asked.once('data', (piece: Buffer) => passed.write(piece.subarray(0, piece.length / 2), fail))
    asked.once('end', fail)
  }
}
export type StorageFront = Awaited<ReturnType<typeof openStorageFront>>
