import { setTimeout as pause } from 'node:timers/promises'
import { findOtherNode } from '../../scripts/test-servers.mjs'
import type { PlazaNode } from './cluster.ts'
import { corrupt } from './corruption.ts'
import { fill } from './disk.ts'
import { startTogether } from './fresh-start.ts'
import type { Link, Trouble } from './link.ts'
import { breakLivestreams } from './livestreams.ts'
import { misbehave } from './misbehave.ts'
import type { Process } from './processes.ts'
import type { Random } from './random.ts'
import { repeatMessages, wipe } from './redis-faults.ts'
import { resumeWrongly } from './resume.ts'
import { failProvider, failStorage } from './service-faults.ts'
import { stall } from './stall.ts'
import { linksOf, type World } from './world.ts'

/** Faults of different lanes may overlap; those of one lane run one after the other. The last lane waits for all the others. */
export type Lane = 'node' | 'store' | 'redis' | 'links' | 'people' | 'services' | 'last'

export interface Fault {
  id: string
  what: string
  lane: Lane
  inject(world: World, random: Random, node: PlazaNode): Promise<void>
}

const lookMilliseconds = 25
/** Ten times the limit of P16. */
const reconnectCeilingMilliseconds = 100_000

const seconds = (world: World, random: Random, short: number, long: readonly [number, ...number[]]) =>
  1_000 * (world.isLong ? random.pick(long) : short)

const skewedClock = new URL('./skewed-clock.mjs', import.meta.url).href

const places = [
  'before-append',
  'after-append',
  'before-publish',
  'before-materialise',
  'before-ack',
  'after-ack',
] as const

const nodeFaults: readonly Fault[] = [
  {
    id: 'F01',
    what: 'kill -9 a node',
    lane: 'node',
    async inject(_world, random, { process: node }) {
      await node.kill()
      await pause(random.between(0, 500))
      await node.start()
    },
  },
  {
    id: 'F02',
    what: 'SIGSTOP a node',
    lane: 'node',
    inject: (world, random, { process: node }) => held(node, seconds(world, random, 2, [2, 5, 30])),
  },
  {
    id: 'F14',
    what: 'SIGTERM a node under load',
    lane: 'node',
    async inject({ breaches }, _random, { process: node }) {
      const began = Date.now()
      const code = await node.end()
      if (code !== 0) breaches.push(`F14: ${node.name} ended with ${code} after ${Date.now() - began} ms`)
      await node.start()
    },
  },
  {
    id: 'F16',
    what: 'kill -9 a node with many listeners on it',
    lane: 'node',
    async inject(world, _random, { process: node }) {
      const { listeners, reconnectMilliseconds, breaches } = world
      if (!listeners) return
      await listeners.areAllBack(10_000)
      await node.kill()
      const began = Date.now()
      const [isBack] = await Promise.all([
        withStore(world, () => listeners.isWhole, reconnectCeilingMilliseconds),
        node.start(),
      ])
      if (!isBack) breaches.push(`F16: the listeners did not come back in ${reconnectCeilingMilliseconds / 1_000} s`)
      else reconnectMilliseconds.push(Date.now() - began)
    },
  },
  {
    id: 'F17',
    what: 'a clock that is half a minute off',
    lane: 'node',
    async inject(world, random, { process: node, opsPort }) {
      for (const skew of [30, -30]) {
        await node.kill()
        await node.start({ NODE_OPTIONS: `--import ${skewedClock}`, CLOCK_SKEW_SECONDS: `${skew}` })
        await pause(seconds(world, random, 1.5, [5, 15]))
        if (!world.probe.isStoreAway && (await isReady(opsPort)))
          world.breaches.push(`F17: ${node.name} called itself ready, its clock off by ${skew} s`)
      }
      await node.kill()
      await node.start()
    },
  },
  {
    id: 'F28',
    what: 'nodes of different versions of Node',
    lane: 'node',
    async inject(world, random, { process: node }) {
      await node.end()
      await node.start({}, findOtherNode())
      await pause(seconds(world, random, 3, [10, 30]))
      await node.end()
      await node.start()
    },
  },
  {
    id: 'F26',
    what: 'kill a node at a failpoint',
    lane: 'node',
    async inject(world, random, node) {
      const { process } = node
      const place = random.pick(places)
      await process.kill()
      await process.start({ FAILPOINT: `${place}:${Math.ceil(random.between(1, 12))}` })
      let isOver = false
      const sending = world.probe.sendThrough(node, () => isOver)
      const isDead = await withStore(world, () => !process.isRunning, 60_000)
      isOver = true
      if (!isDead) world.breaches.push(`F26: ${process.name} never came to ${place}`)
      await process.kill()
      await sending
      await process.start()
    },
  },
]

const storeFaults: readonly Fault[] = [
  {
    id: 'F09',
    what: 'cut the store off',
    lane: 'store',
    async inject(world, random) {
      const { cluster, probe } = world
      const { store } = cluster
      if (!store) return
      const milliseconds = seconds(world, random, random.pick([0.5, 3.5]), [0.5, 3, 10])
      await probe.while(cluster, { tests: ['P13'], isStoreGone: true }, () => down(store.link, milliseconds))
    },
  },
  {
    id: 'F10',
    what: 'SIGSTOP the store',
    lane: 'store',
    async inject(world, random) {
      const { cluster, probe } = world
      const { store } = cluster
      if (!store) return
      const absence = { tests: ['P13', 'P14'], isStoreGone: true } as const
      await probe.while(cluster, absence, () => held(store.process, seconds(world, random, 3.5, [2, 5])))
    },
  },
  {
    id: 'F11',
    what: 'kill -9 the store',
    lane: 'store',
    async inject({ cluster, probe }) {
      await probe.while(cluster, { tests: ['P13'] }, async () => {
        await cluster.store?.process.kill()
        await cluster.store?.process.start()
      })
    },
  },
  {
    id: 'F24',
    what: 'start two nodes at once on an empty database',
    lane: 'people',
    inject: (world) => startTogether(world),
  },
]

const redisFaults: readonly Fault[] = [
  {
    id: 'F03',
    what: 'kill Redis',
    lane: 'redis',
    async inject(world, random) {
      const { redis } = world.cluster
      await redis?.process.kill()
      await pause(seconds(world, random, 1, [1, 5, 15]))
      await redis?.process.start()
    },
  },
  {
    id: 'F04',
    what: 'SIGSTOP Redis',
    lane: 'redis',
    async inject(world, random) {
      const { cluster, probe } = world
      const { redis } = cluster
      if (!redis) return
      const milliseconds = seconds(world, random, 2.5, [10])
      await probe.while(cluster, { tests: ['P14'] }, () => held(redis.process, milliseconds))
    },
  },
  {
    id: 'F18',
    what: 'wipe Redis with work to be done',
    lane: 'redis',
    async inject({ cluster: { redis, letters, nodes } }) {
      if (!redis || !letters) return
      await Promise.all(nodes.map(({ url }) => letters.ask(url, 10)))
      await wipe(redis.process.port)
    },
  },
  { id: 'F25', what: 'hints doubled and late', lane: 'redis', inject: repeatMessages },
  {
    id: 'F19',
    what: 'fill a disk',
    lane: 'redis',
    inject: fillDisk,
  },
]

const linkFaults: readonly Fault[] = [
  {
    id: 'F05',
    what: 'cut every client',
    lane: 'links',
    async inject({ cluster: { nodes } }) {
      for (const link of linksOf(nodes, 'senders', 'readers', 'moderators')) link.cut()
    },
  },
  {
    id: 'F06',
    what: 'clients of a node in a black hole',
    lane: 'links',
    inject: (_world, _random, node) => troubled(linksOf([node], 'senders', 'readers'), { hole: 'both' }, 3_000),
  },
  {
    id: 'F07',
    what: 'slow links to a node',
    lane: 'links',
    inject: (_world, _random, node) =>
      troubled(
        linksOf([node], 'senders', 'readers'),
        { delayMilliseconds: 300, jitterMilliseconds: 100, bytesPerSecond: 20_000 },
        1_500,
      ),
  },
  {
    id: 'F08',
    what: 'lose what a node answers',
    lane: 'links',
    async inject(_world, _random, node) {
      const links = linksOf([node], 'senders', 'readers')
      await troubled(links, { hole: 'client' }, 1_000, (link) => link.cut())
    },
  },
]

const peopleFaults: readonly Fault[] = [
  { id: 'F15', what: 'readers that stop reading', lane: 'last', inject: stall },
  { id: 'F20', what: 'flip bits on the way', lane: 'people', inject: corrupt },
  { id: 'F22', what: 'a model and a facilitator that fail', lane: 'people', inject: misbehave },
  { id: 'F27', what: 'resume from wrong places', lane: 'people', inject: resumeWrongly },
  {
    id: 'F29',
    what: 'publishers, an engine and a node of livestreams that die',
    lane: 'last',
    inject: breakLivestreams,
  },
]

const serviceFaults: readonly Fault[] = [
  { id: 'F21', what: 'an object storage that fails', lane: 'services', inject: failStorage },
  { id: 'F23', what: 'a provider of attendance that fails', lane: 'services', inject: failProvider },
]

export const pairFaults: readonly Fault[] = [
  ...nodeFaults,
  ...storeFaults,
  ...redisFaults,
  ...linkFaults,
  ...peopleFaults,
  ...serviceFaults,
]

/** The faults for the one node of the embedded store. */
export const aloneFaults: readonly Fault[] = [
  ...nodeFaults.filter(({ id }) => ['F01', 'F14', 'F26'].includes(id)),
  {
    id: 'F19',
    what: 'fill a disk',
    lane: 'node',
    inject: fillDisk,
  },
]

async function fillDisk(world: World, random: Random): Promise<void> {
  const { disk } = world.cluster
  if (disk) await fill(disk, seconds(world, random, 1.5, [3, 10]))
}

/** Polls until the condition holds or the time is up; time during which the store is unreachable does not count. */
async function withStore({ probe }: World, isSo: () => boolean, milliseconds: number): Promise<boolean> {
  for (let left = milliseconds; !isSo(); left -= probe.isStoreAway ? 0 : lookMilliseconds) {
    if (left <= 0) return false
    await pause(lookMilliseconds)
  }
  return true
}

async function isReady(opsPort: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/readyz`).catch(() => null)
  return answer?.status === 200
}

async function held(part: Process, milliseconds: number): Promise<void> {
  part.hold()
  await pause(milliseconds)
  part.release()
}

async function down(link: Link, milliseconds: number): Promise<void> {
  link.isDown = true
  link.cut()
  await pause(milliseconds)
  link.isDown = false
}

async function troubled(
  links: readonly Link[],
  trouble: Trouble,
  milliseconds: number,
  after: (link: Link) => void = () => {},
): Promise<void> {
  for (const link of links) link.trouble = trouble
  await pause(milliseconds)
  for (const link of links) {
    after(link)
    link.trouble = {}
  }
}
