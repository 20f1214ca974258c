import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import mongoose from 'mongoose'
import { z } from 'zod'
import { Streams, Viewers } from '#server/domains/streams/streams/model'
import { countViewersNow, holdViewer, releaseViewer, viewOverRest } from '#server/domains/streams/streams/viewers'
import type { Connection, Node } from '#server/kernel/context'
import { fakeVideo } from '#server/ports/video/fake'
import { boot } from '#test/support/boot'
import { bodyOf, call, signIn, wallet } from '#test/support/wallet'
import { median } from './load.ts'
import type { Ground } from './processes.ts'
import type { Report, Setting } from './report.ts'

interface Size {
  watchers: number
  /** How many come in a second, and how many go. */
  changing: number
  seconds: number
}

const Made = z.object({ stream: z.object({ id: z.string() }) })
const heldAtOnce = 1_000
const tickMilliseconds = 100
const restWindowSeconds = 300
const settledMilliseconds = 30_000
/** What a node writes by itself, with nobody there: beats, leases, when a picture was last seen. */
const writesOfNode = 10

/** The watchers of one stream as the server keeps them, without their sockets: what they cost the store while they stay, come and go. */
export async function measureWatchers(report: Report, setting: Setting, ground: Ground, size: Size): Promise<void> {
  const video = fakeVideo()
  const environment: Record<string, string> = ground.mongodbUri ? { MONGODB_URI: ground.mongodbUri } : {}
  const server = await boot({ nodes: setting.nodes, environment, services: { video } })
  try {
    const nodes = server.apps.map(({ node }) => node)
    await until(async () => nodes.every((node) => node.nodes.live().size === nodes.length))
    const { sessionToken } = await signIn(server.url, wallet('bench 0'))
    const { stream } = Made.parse(await bodyOf(call(server.url, 'POST /api/streams', {}, sessionToken)))
    await measure(report, setting, nodes, stream.id, size)
  } finally {
    await server.close()
  }
}

async function measure(report: Report, setting: Setting, nodes: readonly Node[], stream: string, size: Size) {
  const { watchers, changing, seconds } = size
  const tell = (name: string, value: number, target: number) =>
    report.tell({ ...setting, name: `${watchers.toLocaleString('en')} watchers of a stream: ${name}`, value, target })
  const writes = countWrites()
  const counts = timeCounts()
  const crowd = crowdOf(nodes, stream)
  const loop = monitorEventLoopDelay({ resolution: 5 })

  const began = performance.now()
  while (crowd.size < watchers) await crowd.come(Math.min(heldAtOnce, watchers - crowd.size))
  const heldPerSecond = watchers / ((performance.now() - began) / 1_000)
  await isCounted(stream, watchers)

  const staying = await over(seconds, writes)
  tell('store writes/s while they stay', staying.writes, writesOfNode * nodes.length)
  tell('documents written/s while they stay', staying.documents, writesOfNode * nodes.length)

  loop.enable()
  const usedBefore = process.cpuUsage()
  const changes = await over(seconds, writes, async () => {
    const each = (changing * tickMilliseconds) / 1_000
    const began = performance.now()
    const done: Promise<void>[] = []
    for (let tick = 0; tick < (seconds * 1_000) / tickMilliseconds; tick++) {
      done.push(crowd.come(each), crowd.go(each))
      await sleep(Math.max(0, began + (tick + 1) * tickMilliseconds - performance.now()))
    }
    await Promise.all(done)
  })
  const { user, system } = process.cpuUsage(usedBefore)
  loop.disable()
  const what = `with ${changing.toLocaleString('en')} coming and as many going a second`
  tell(`${what}, store writes/s`, changes.writes, 200 * nodes.length)
  tell(`${what}, documents written/s`, changes.documents, 2 * changing + writesOfNode * nodes.length + 10)
  tell(`${what}, % of a core`, (user + system) / 10_000 / changes.seconds, 80)
  tell(`${what}, longest hold of the loop, ms`, loop.max / 1e6, 500)
  await isCounted(stream, crowd.size)

  tell('a number that a count asks for, ms', median(counts), 5_000)

  const asked = Math.round((watchers / restWindowSeconds) * seconds)
  const overRest = await over(seconds, writes, async () => {
    const began = performance.now()
    const done: Promise<unknown>[] = []
    while (done.length < asked) {
      const due = Math.min(asked, ((performance.now() - began) / 1_000) * (asked / seconds))
      for (; done.length < due; ) {
        const node = nodes[done.length % nodes.length]
        if (!node) continue
        const viewer = { viewer: `b:${done.length}`, address: null }
        done.push(viewOverRest(node, stream, viewer, true).then(() => countViewersNow(node, stream)))
      }
      await sleep(1)
    }
    await Promise.all(done)
  })
  tell('documents written/s, all of them over REST and each every 5 minutes', overRest.documents, 2 * (asked / seconds))
  console.error(
    `${watchers.toLocaleString('en')} watchers: ${Math.round(heldPerSecond).toLocaleString('en')} came in a second`,
  )
}

/** People with one connection each, spread over the nodes. Those who came first go first. */
function crowdOf(nodes: readonly Node[], stream: string) {
  const there: { node: Node; connection: Connection }[] = []
  let came = 0
  return {
    get size() {
      return there.length
    },
    async come(count: number): Promise<void> {
      const holds = Array.from({ length: count }, async () => {
        const nth = came++
        const node = nodes[nth % nodes.length]
        if (!node) return
        const connection = connectionOf(`bench ${nth}`)
        there.push({ node, connection })
        await holdViewer(node, stream, { viewer: `a:bench ${nth}`, address: null }, connection, () => undefined)
        await countViewersNow(node, stream)
      })
      await Promise.all(holds)
    },
    async go(count: number): Promise<void> {
      await Promise.all(
        there.splice(0, count).map(async ({ node, connection }) => {
          await releaseViewer(node, stream, connection)
          await countViewersNow(node, stream)
        }),
      )
    },
  }
}

function connectionOf(id: string): Connection {
  const nothing = () => undefined
  return {
    ...{ id, wire: {}, isOpen: true, isBusyReading: false, memory: new Map(), has: () => false },
    ...{ join: nothing, leave: nothing, endStream: nothing, close: nothing, emit: nothing, onClose: nothing },
    ...{ renew: nothing, answerFirst: nothing },
  }
}

const writing = [
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'replaceOne',
  'deleteOne',
  'deleteMany',
  'findOneAndUpdate',
  'findOneAndReplace',
  'findOneAndDelete',
  'bulkWrite',
]

/** Counts what this process asks of its store: calls that write, and the documents that they name. */
function countWrites(): { writes: number; documents: number } {
  const counted = { writes: 0, documents: 0 }
  for (const { collection } of Object.values(mongoose.models)) {
    const methods = collection as unknown as Record<string, (...given: unknown[]) => unknown>
    for (const name of writing) {
      const write = methods[name]?.bind(collection)
      if (!write) continue
      methods[name] = (...given) => {
        counted.writes++
        counted.documents += Array.isArray(given[0]) ? given[0].length : 1
        return write(...given)
      }
    }
  }
  return counted
}

/** How long the store takes to say how many there are, in milliseconds; each count asks for three numbers at once. */
function timeCounts(): number[] {
  const times: number[] = []
  const methods = Viewers.collection as unknown as { countDocuments: (...given: unknown[]) => Promise<number> }
  const count = methods.countDocuments.bind(Viewers.collection)
  methods.countDocuments = async (...given) => {
    const startedAt = performance.now()
    const found = await count(...given)
    times.push(performance.now() - startedAt)
    return found
  }
  return times
}

/** What was written in a second, while some work went on or nothing did. */
async function over(
  seconds: number,
  counted: ReturnType<typeof countWrites>,
  work: () => Promise<unknown> = () => sleep(seconds * 1_000),
) {
  const before = { ...counted, at: performance.now() }
  await work()
  const took = (performance.now() - before.at) / 1_000
  return {
    seconds: took,
    writes: (counted.writes - before.writes) / took,
    documents: (counted.documents - before.documents) / took,
  }
}

const isCounted = (stream: string, watchers: number) =>
  until(async () => (await Streams.findOne({ _id: stream }).lean())?.viewer_count === watchers)

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + settledMilliseconds
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('This run is void: the watchers are not counted as they are')
    await sleep(50)
  }
}
