import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { messages } from '#shared/api/rooms/messages'
import { access } from '#shared/api/rooms/rooms'
import { call, connect } from '#test/support/wallet'
import { growLog } from './grown.ts'
import { median, percentiles } from './load.ts'
import { directoryOfRun, type Ground, type Measured, startDriver, startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { moderatedRoom, people } from './room.ts'
import { verdictMicroseconds } from './verdict.ts'

export interface Size {
  rounds: number
  seconds: number
  longLog: number
  acts: number
}

type Person = Awaited<ReturnType<typeof people>>[number]

const shortLog = 1_000
const caughtUp = 10_000
const membersAtOnce = 10
const sendsPerSecond = 250

export function measureVerdict(report: Report): void {
  report.tell({ nodes: 1, store: 'none', name: 'a verdict, us', value: verdictMicroseconds(), target: 20 })
}

/** Compares a send to a room with a long log and one to a room with a short log, and measures a catch-up. */
export async function measureLongLog(report: Report, size: Size): Promise<void> {
  const setting = { nodes: 1, store: 'embedded' }
  const directory = directoryOfRun()
  try {
    const { members, ...rooms } = await prepare(directory, size.longLog)
    const server = await startPlaza({ directory })
    const tokens = members.map(({ token }) => token)
    const [long, short] = [size.longLog, shortLog].map((length) => length.toLocaleString('en'))
    const name = `server CPU of a send behind ${long} events, behind ${short} = 1`
    report.tell({ ...setting, name, value: await costOfLength(server, rooms, tokens, size), target: 1.1 })

    const times: number[] = []
    for (let time = 0; time < size.rounds; time++) times.push(await catchUp(server, rooms.long, tokens[0] ?? ''))
    const what = `catch-up of ${caughtUp.toLocaleString('en')} events by one client, ms`
    report.tell({ ...setting, name: what, value: median(times), target: 1_000 })
  } finally {
    await stopAll()
    rmSync(directory, { recursive: true, force: true })
  }
}

interface Rooms {
  short: string
  long: string
}

async function costOfLength(
  server: Measured,
  { short, long }: Rooms,
  tokens: readonly string[],
  { rounds, seconds }: Size,
): Promise<number> {
  const driver = startDriver()
  for (const roomId of [short, long]) {
    await driver.tell({
      order: 'open',
      crowd: roomId,
      urls: [server.url],
      dialect: { side: 'plaza', protocol: 2, room: roomId },
    })
    await driver.tell({ order: 'grow', crowd: roomId, tokens })
  }
  const costOf = async (crowd: string) => {
    const before = await server.probe()
    await driver.pace({ order: 'pace', crowd, perSecond: sendsPerSecond, seconds })
    const after = await server.probe()
    return after.cpuMicroseconds - before.cpuMicroseconds
  }
  const costs = { short: [] as number[], long: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    costs.short.push(await costOf(short))
    costs.long.push(await costOf(long))
  }
  return median(costs.long) / median(costs.short)
}

/** Two rooms that differ only in the length of their logs. */
async function prepare(directory: string, longLog: number): Promise<Rooms & { members: Person[] }> {
  try {
    const { url } = await startPlaza({ directory })
    const members = await people(url, membersAtOnce)
    const [short, long] = [await moderatedRoom(url, members), await moderatedRoom(url, members)]
    for (const id of [short, long])
      await call(url, `POST /api/channels/${id}/messages`, { content: 'The first one' }, members[0]?.token)
    await stopAll()
    await growLog(directory, `channel:${short}`, shortLog)
    await growLog(directory, `channel:${long}`, longLog)
    return { members, short, long }
  } finally {
    await stopAll()
  }
}

/** Milliseconds until a client has the last events of a room, page by page. */
async function catchUp({ url }: Measured, id: string, token: string): Promise<number> {
  const room = { type: 'channel', id } as const
  const socket = connect(url, '/rooms', token)
  try {
    const sync = async (after_seq: number) => {
      const answer = await socket.timeout(10_000).emitWithAck('room:sync', { room, after_seq })
      return messages.sync.output.parse(answer.data)
    }
    const { head_seq } = await sync(0)
    const startedAt = performance.now()
    let known = Math.max(0, head_seq - caughtUp)
    for (let isComplete = false; !isComplete; ) {
      const { events, next_after_seq, complete } = await sync(known)
      if (events[0]?.seq !== known + 1) throw new Error(`After ${known} came ${events[0]?.seq}`)
      known = next_after_seq
      isComplete = complete
    }
    return performance.now() - startedAt
  } finally {
    socket.disconnect()
  }
}

/** The time from a moderator's request until the act has reached the last socket of its target, in a room with people on every node. */
export async function measureEffect(
  report: Report,
  setting: { nodes: number; store: string },
  ground: Ground,
  { acts }: Size,
) {
  try {
    const nodes: Measured[] = []
    for (let node = 0; node < setting.nodes; node++) nodes.push(await startPlaza(ground))
    const urls = nodes.map(({ url }) => url)
    const members = await people(urls[0] ?? '', membersAtOnce)
    const [owner, target] = [members[0], members.at(-1)] as [Person, Person]
    const id = await moderatedRoom(urls[0] ?? '', members)
    const times = await effects(urls, { type: 'channel', id }, owner, target, acts)
    const name = "from a moderator's word to the last socket it is about, p99 ms"
    report.tell({ ...setting, name, value: percentiles(times).p99, target: 200 })
  } finally {
    await stopAll()
  }
}

async function effects(urls: readonly string[], room: object, owner: Person, target: Person, acts: number) {
  const moderator = connect(urls[0] ?? '', '/rooms', owner.token)
  const concerned = urls.flatMap((url) => [1, 2].map(() => connect(url, '/rooms', target.token)))
  try {
    for (const socket of [moderator, ...concerned]) await socket.timeout(10_000).emitWithAck('room:join', { room })
    const times: number[] = []
    for (let act = 0; act < acts; act++) {
      const [action, state] = act % 2 === 0 ? ['mute', 'muted'] : ['unmute', 'granted']
      const told = concerned.map(
        (socket) =>
          new Promise<void>((resolve) => socket.once(access.name, (payload) => payload.state === state && resolve())),
      )
      const startedAt = performance.now()
      const ask = { room, action, target: target.address, ...(action === 'mute' ? { duration: '1h' } : {}) }
      const answer = moderator.timeout(10_000).emitWithAck('mod:act', ask)
      await Promise.all(told)
      times.push(performance.now() - startedAt)
      if (!(await answer).ok) throw new Error(`The act was refused: ${JSON.stringify(await answer)}`)
      await sleep(10)
    }
    return times
  } finally {
    for (const socket of [moderator, ...concerned]) socket.disconnect()
  }
}
