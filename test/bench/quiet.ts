import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'socket.io-client'
import { connect } from '#test/support/wallet'
import { startPlaza, stopAll } from './processes.ts'
import type { Report } from './report.ts'
import { people, smallRooms } from './room.ts'

interface Size {
  seconds: number
  crowd: number
}

const few = 10
const perSecond = 10
const warmMessages = 400
const restMilliseconds = 3_000
const megabyte = 1_024
const setting = { nodes: 1, store: 'embedded' }

/** What a server and its processes take while its people are silent, and what a message takes that comes alone. */
export async function measureQuiet(report: Report, { seconds, crowd }: Size): Promise<void> {
  const tell = (name: string, value: number, target: number) => report.tell({ ...setting, name, value, target })
  try {
    const { url, pid } = await startPlaza({ isProbed: false })
    tell('CPU of a start, ms', cpuOf(pid), 1_000)
    const members = await people(url, few)
    const [id = ''] = await smallRooms(url, members, 1, few)
    const enter = (count: number) => inTurn(count, (nth) => joined(url, members[nth % few]?.token ?? '', id))
    const idle = async () => {
      await sleep(restMilliseconds)
      return (await during(pid, () => sleep(seconds * 1_000))) / seconds
    }
    const sockets = await enter(few)
    const alone = await idle()
    tell(`CPU of a silent room of ${few}, ms/s`, alone, 3)
    await paced(sockets, id, warmMessages, 20 * perSecond)
    const messages = seconds * perSecond
    const spoken = await during(pid, () => paced(sockets, id, messages, perSecond))
    tell(`CPU of a message, ${perSecond} a second, beyond that, ms`, (spoken - alone * seconds) / messages, 1)
    await enter(crowd - few)
    tell(`CPU of ${crowd.toLocaleString('en')} silent people, ms/s`, await idle(), 8)
    tell(`MB with ${crowd.toLocaleString('en')} connections`, pssOf(pid) / megabyte, 220)
  } finally {
    await stopAll()
  }
}

async function joined(url: string, token: string, id: string): Promise<Socket> {
  const socket = connect(url, '/rooms', token)
  await new Promise((resolve, reject) => socket.once('session:ready', resolve).once('connect_error', reject))
  const { ok } = await socket.emitWithAck('room:join', { room: { type: 'channel', id } })
  if (!ok) throw new Error('Somebody could not join')
  return socket
}

async function paced(sockets: readonly Socket[], id: string, count: number, rate: number): Promise<void> {
  const began = performance.now()
  const answers: Promise<{ ok: boolean }>[] = []
  for (let nth = 0; nth < count; nth++) {
    await sleep(Math.max(0, began + (nth * 1_000) / rate - performance.now()))
    const message = {
      room: { type: 'channel', id },
      text: `Message ${nth} of some sixty letters while all the others are silent`,
    }
    const socket = sockets[nth % sockets.length]
    if (socket) answers.push(socket.emitWithAck('message:send', message))
  }
  if (!(await Promise.all(answers)).every(({ ok }) => ok)) throw new Error('A message was refused')
}

async function inTurn<T>(count: number, work: (nth: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let nth = 0; nth < count; nth++) done.push(await work(nth))
  return done
}

async function during(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = cpuOf(pid)
  await work()
  return cpuOf(pid) - before
}

/** Milliseconds on a processor, of all threads of a process and its children, as Linux counts them. */
const cpuOf = (pid: number): number =>
  treeOf(pid)
    .flatMap((one) => readdirSync(`/proc/${one}/task`).map((thread) => `/proc/${one}/task/${thread}/schedstat`))
    .reduce((sum, path) => sum + Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6, 0)

/** Kilobytes of memory; what several processes share is divided among them. */
const pssOf = (pid: number): number =>
  treeOf(pid).reduce((sum, one) => {
    const [, kilobytes = '0'] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, 'utf8')) ?? []
    return sum + Number(kilobytes)
  }, 0)

function treeOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)
  return [pid, ...children.flatMap(treeOf)]
}

function parentOf(name: string): number {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}
