import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '#shared/api/index'
import { expandRoute, type Operation, operationsOf, type Route } from '#shared/kit/contract'
import { call, connect } from '#test/support/wallet'
import { percentiles } from './load.ts'
import { directoryOfRun, startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { people, smallRooms } from './room.ts'

const setting = { nodes: 1, store: 'embedded' }
const writers = 12
const readers = 5
const inFlight = 5
const everyMilliseconds = 1_100

interface Size {
  rooms: number
  seconds: number
}
type Person = Awaited<ReturnType<typeof people>>[number]

/**
 * Twelve people write, and five accounts of another person at one address call lists, and then every operation that there is, twenty-five calls
 * at once and as often as they may. Measures how long the writers wait for their acks.
 */
export async function measureBesideCalls(report: Report, { rooms, seconds }: Size): Promise<void> {
  const directory = directoryOfRun()
  try {
    const { members, ids } = await prepare(directory, rooms)
    const { url } = await startPlaza({ directory, rateLimitScale: 1 })
    const written = writersIn(url, members.slice(0, writers), ids[0] ?? '')
    const tell = (name: string, value: number, target: number) => report.tell({ ...setting, name, value, target })
    tell(`ack of ${writers} who write, p99 ms`, (await written.during(seconds * 1_000)).p99, 100)
    const everything = callsOf()
    for (const [what, calls] of [
      ['lists', everything.filter(isList)],
      ['everything', everything],
    ] as const) {
      const asking = new AbortController()
      const asked = members
        .slice(writers)
        .flatMap(({ token }) =>
          Array.from({ length: inFlight }, (_, at) => askAll(url, token, { ids, calls, at }, asking.signal)),
        )
      const { p50, p99 } = await written.during(seconds * 3_000)
      asking.abort()
      await Promise.all(asked)
      const beside = `ack of ${writers} who write beside ${readers} accounts that call ${what}`
      tell(`${beside}, p50 ms`, p50, 50)
      tell(`${beside}, p99 ms`, p99, 250)
    }
    written.close()
  } finally {
    await stopAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Rooms that all of them are in, each with a message. */
async function prepare(directory: string, rooms: number): Promise<{ members: Person[]; ids: string[] }> {
  try {
    const { url } = await startPlaza({ directory })
    const members = await people(url, writers + readers)
    const ids = await smallRooms(url, members, rooms, members.length)
    for (const id of ids)
      await call(url, `POST /api/channels/${id}/messages`, { content: 'The first one' }, members[0]?.token)
    return { members, ids }
  } finally {
    await stopAll()
  }
}

/** People who write in a room, each once a second, until it is over. */
export function writersIn(url: string, members: readonly Pick<Person, 'token'>[], id: string) {
  const room = { type: 'channel', id } as const
  const lines = members.map(({ token }) => connect(url, '/rooms', token))
  return {
    during(milliseconds: number) {
      const end = performance.now() + milliseconds
      return this.until(() => performance.now() >= end)
    },
    async until(isOver: () => boolean) {
      const took: number[] = []
      const write = async (line: (typeof lines)[number]) => {
        await sleep(Math.random() * everyMilliseconds)
        while (!isOver()) {
          const begun = performance.now()
          await line.timeout(20_000).emitWithAck('message:send', { room, text: 'What somebody has to say' })
          const waited = performance.now() - begun
          took.push(waited)
          await sleep(Math.max(0, everyMilliseconds - waited))
        }
      }
      await Promise.all(lines.map(write))
      return percentiles(took)
    },
    close() {
      for (const line of lines) line.close()
    },
  }
}

/** What ends the session, or the account. */
const untouched = /^identity\.|logout|signOut|erase/

interface Called {
  http: Route
  operation: Operation
  input: Record<string, unknown>
}

function callsOf(): Called[] {
  const examples = JSON.parse(readFileSync('docs/examples.json', 'utf8')) as Record<string, { input: object }>
  return operationsOf(api).flatMap(({ name, operation }) => {
    const { http } = operation
    return http && !untouched.test(name) ? [{ http, operation, input: { ...examples[name]?.input } }] : []
  })
}

const isList = ({ http, operation: { cost, input } }: Called) =>
  http.startsWith('GET') && (cost !== 'cheap' || 'limit' in input.shape)

/** One call after the other, from another place of the list each; who is refused for calling too often goes on with the next. */
async function askAll(
  url: string,
  token: string,
  { ids, calls, at: from }: { ids: readonly string[]; calls: readonly Called[]; at: number },
  signal: AbortSignal,
) {
  for (let at = (from * calls.length) / inFlight; !signal.aborted; at++) {
    const next = calls[Math.floor(at) % calls.length]
    if (!next) return
    const { method, path } = expandRoute(next.http).at(-1) ?? { method: 'GET', path: '/' }
    const input = { ...next.input, ...('room' in next.input ? { room: { type: 'channel', id: ids[0] } } : {}) }
    const named = path.replace(/:(\w+)/g, (_, field: string) => partOf(field, input, ids[at % ids.length] ?? ''))
    const query = method === 'GET' ? `?${queryOf({ limit: 100, joined: true, ...input })}` : ''
    await call(url, `${method} ${named}${query}`, method === 'GET' ? null : input, token).catch(() => {})
  }
}

function partOf(field: string, input: Record<string, unknown>, id: string): string {
  if (field === 'type') return 'channel'
  return encodeURIComponent(field === 'room' || typeof input[field] !== 'string' ? id : String(input[field]))
}

const queryOf = (input: object) =>
  new URLSearchParams(
    Object.entries(input).flatMap(([name, value]) => (typeof value === 'object' ? [] : [[name, String(value)]])),
  ).toString()
