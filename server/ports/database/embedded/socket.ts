import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CopyError } from './sums.ts'

/** The socket of the process that holds a directory, in that directory. */
const socketName = 'tools.sock'

/** The shortest of the systems' limits for the path of a socket, in bytes. */
const LONGEST_PATH = 103
const LONGEST_QUESTION = 1000
/** Clients that do not read are disconnected, so that their read ends. */
const IDLE_MS = 30_000
const SILENT_MS = 60_000
/** How long a stop waits for answers that are under way. */
const LEAVE_MS = 3000

/** Answers a question line by line, and releases what it holds when it returns. */
type Answer = (question: string) => AsyncGenerator<string>

interface Door {
  /** Why tools cannot ask, where that is so. */
  readonly trouble: string | null
  close(): Promise<void>
}

/** Lets tools of the same user ask the process that holds the directory. Where there can be no socket, the process does without. */
export async function openDoor(directory: string, answer: Answer): Promise<Door> {
  const silent = new Set<Socket>()
  const asked = new Map<Socket, Promise<void>>()
  const server = createServer(async (socket) => {
    silent.add(socket)
    const question = await questionOf(socket)
    silent.delete(socket)
    if (question === null) return
    const told = tell(socket, answer(question)).finally(() => asked.delete(socket))
    asked.set(socket, told)
  })
  const remove = () => rm(join(directory, socketName), { force: true })
  const trouble = await remove()
    .then(() => withPath(directory, (path) => listen(server, path)))
    .then(
      () => null,
      (error: Error) => error.message,
    )
  return {
    trouble,
    async close() {
      server.close()
      await remove().catch(() => undefined)
      for (const socket of silent) socket.destroy()
      const late = setTimeout(() => {
        for (const socket of asked.keys()) socket.destroy()
      }, LEAVE_MS)
      await Promise.all(asked.values())
      clearTimeout(late)
    },
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const before = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(before)
  }
  await once(server, 'listening')
  server.unref()
}

/** The first line that is sent; null where none comes, or none that could be a question. */
async function questionOf(socket: Socket): Promise<string | null> {
  socket.setTimeout(IDLE_MS, () => socket.destroy())
  try {
    for await (const line of linesOf(socket.iterator({ destroyOnReturn: false }), LONGEST_QUESTION)) return line
  } catch {
    // He has gone again.
  }
  socket.destroy()
  return null
}

/** A client that disconnects early notices by itself. */
async function tell(socket: Socket, lines: AsyncGenerator<string>): Promise<void> {
  await pipeline(Readable.from(answered(lines), { highWaterMark: 1 }), socket).catch(() => undefined)
  socket.destroy()
  await lines.return(undefined)
}

const end = '#.'
const refusal = '#!'

/** The last line says that this was all, or what went wrong: a process that ends says neither. */
async function* answered(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* lines
    yield `${end}\n`
  } catch (error) {
    yield `${refusal}${JSON.stringify(error instanceof Error ? error.message : String(error))}\n`
  }
}

/** What the process that holds the directory answers, to the end; throws where that process ends before. */
export async function* ask(socket: Socket, question: string): AsyncGenerator<string> {
  socket.setTimeout(SILENT_MS, () =>
    socket.destroy(new CopyError('The process that holds the directory does not answer.')),
  )
  socket.write(`${question}\n`)
  try {
    for await (const line of linesOf(socket)) {
      if (line === end) return
      if (line.startsWith(refusal)) throw new CopyError(JSON.parse(line.slice(refusal.length)))
      yield `${line}\n`
    }
  } catch (error) {
    if (!isBroken(error)) throw error
  }
  throw new CopyError('The process that holds the directory ended before it had answered: run this again.')
}

const isBroken = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(error.code))

async function* linesOf(chunks: AsyncIterable<unknown>, longest = Number.POSITIVE_INFINITY): AsyncGenerator<string> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk as Buffer)
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf('\n', start)
      const part = bytes.subarray(start, end < 0 ? bytes.length : end)
      length += part.length
      if (length > longest) return
      rest.push(part)
      start += part.length + 1
      if (end < 0) break
      yield Buffer.concat(rest).toString()
      rest = []
      length = 0
    }
  }
}

/** A connection to the process that listens in the directory; null without one. */
export async function reach(directory: string): Promise<Socket | null> {
  return withPath(directory, async (path) => {
    const socket = connect(path)
    await once(socket, 'connect')
    return socket
  }).catch(() => null)
}

/** Does anybody listen in the directory? One who was stopped, or is asked by many, does. */
export async function isServed(directory: string): Promise<boolean> {
  const socket = await reach(directory)
  socket?.destroy()
  return socket !== null
}

/** A path that is too long is reached by a link, which is there meanwhile. */
async function withPath<T>(directory: string, use: (path: string) => Promise<T>): Promise<T> {
  if (process.platform === 'win32')
    return use(`\\\\.\\pipe\\plaza-${createHash('sha256').update(directory).digest('hex')}`)
  const paths = [join(directory, socketName), join(relative('', directory), socketName)]
  const path = paths.find((each) => Buffer.byteLength(each) <= LONGEST_PATH)
  if (path !== undefined) return use(path)
  const folder = await mkdtemp(join(tmpdir(), 'plaza-'))
  try {
    await symlink(directory, join(folder, 'd'))
    return await use(join(folder, 'd', socketName))
  } finally {
    await rm(folder, { recursive: true })
  }
}
