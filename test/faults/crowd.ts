import type { Cluster } from './cluster.ts'
import type { History } from './history.ts'
import { Listeners } from './listeners.ts'
import { Moderator, Observer } from './moderators.ts'
import { Probe } from './probe.ts'
import type { Random } from './random.ts'
import { Reader } from './reader.ts'
import { type Place, type Room, Sender, type Talk } from './sender.ts'
import { Setup } from './setup.ts'
import { doorsOf, type World } from './world.ts'

/** The participants of a run. */
export interface Crowd {
  rooms: readonly Room[]
  spoilt: ReadonlySet<string>
  senders: readonly Sender[]
  readers: readonly Reader[]
  moderators: readonly Moderator[]
  observer: Observer
  latencies: readonly number[]
  world: World
}

export interface CrowdOptions {
  isLong: boolean
  history: History
  random: Random
}

const talkersInRoom = 5
/** The longest text in characters, of four bytes each. */
const fourBytes = '🏛'
const busy: Omit<Talk, 'room'> = { window: 4, pauseMilliseconds: 120 }
const serial: Omit<Talk, 'room'> = { window: 1, pauseMilliseconds: 20 }

/** The people of a cluster: senders and readers in two rooms, moderators with the people they act on, and misbehaving clients. */
export async function gather(cluster: Cluster, { isLong, history, random }: CrowdOptions): Promise<Crowd> {
  const setup = await Setup.open(cluster.nodes[0]?.url ?? '')
  const latencies: number[] = []
  const place = (door: Parameters<typeof doorsOf>[1]): Place => ({
    doors: () => doorsOf(cluster, door),
    history,
    random: random.fork(),
    latencies,
  })
  const direct: Place = { ...place('senders'), doors: () => cluster.nodes.map(({ url }) => url) }
  const [talkers, listeners, judges, victims, corrupted] = await Promise.all([
    setup.people('talker', 2 * talkersInRoom),
    setup.people('listener', 8),
    setup.people('judge', 2),
    setup.people('victim', 3),
    setup.people('corrupted', 2),
  ])
  const [stranger, prober] = listeners
  const [first, ...others] = victims
  if (!stranger || !prober || !first) throw new Error('Nobody came')
  const everybody = [...talkers, ...listeners]
  const [main, second, court, flooded, spoilt, quiet, probed, closed] = await Promise.all([
    setup.room(everybody),
    setup.room(everybody),
    setup.room([...victims, ...listeners], judges),
    setup.room(everybody),
    setup.room([...corrupted, ...listeners]),
    setup.room(listeners),
    setup.room([prober]),
    setup.closed(),
  ])
  const mains = [main, second]

  const senders = mains.flatMap((room, half) =>
    talkers.slice(talkersInRoom * half, talkersInRoom * (half + 1)).map((person, at) => {
      const talk = { room, ...(at === 0 ? serial : busy) }
      return new Sender(`talker-${half}-${at}`, person, { ...place('senders'), at: half + at }, talk)
    }),
  )
  const inCourt = victims.flatMap((person, at) =>
    cluster.nodes.map((_, node) => {
      const talk = { room: court, window: 2, pauseMilliseconds: 100 }
      return new Sender(`victim-${at}-${node}`, person, { ...place('senders'), at: node }, talk)
    }),
  )
  const flooder = new Sender(
    'flooder',
    setup.owner,
    { ...direct, at: 0 },
    { room: flooded, window: 1, pauseMilliseconds: 0, words: fourBytes.repeat(9_900) },
  )
  const readersOf = (room: Room, name: string, people: typeof listeners, where: Place) =>
    people.map((person, at) => new Reader(`${name}-${at}`, person, { ...where, at }, room))
  const slow = readersOf(flooded, 'slow', isLong ? repeated(listeners, 100) : listeners.slice(0, 3), direct)
  return {
    rooms: [...mains, court, flooded, spoilt, probed],
    spoilt: new Set([spoilt.key]),
    senders: [...senders, ...inCourt],
    readers: [
      ...mains.flatMap((room, at) => readersOf(room, `reader-${at}`, listeners.slice(0, 4), place('readers'))),
      ...readersOf(court, 'witness', listeners.slice(0, 2), place('readers')),
      ...readersOf(court, 'accused', victims, place('readers')),
      ...readersOf(spoilt, 'bystander', listeners.slice(0, 1), place('readers')),
      ...slow,
    ],
    moderators: judges.map(
      (person, at) =>
        new Moderator(
          `judge-${at}`,
          person,
          { ...place('moderators'), at },
          { room: court, victims: [first, ...others], slowModes: [0, 0, 0, 5] },
        ),
    ),
    observer: new Observer(stranger, place('moderators'), court),
    latencies,
    world: {
      cluster,
      history,
      isLong,
      breaches: [],
      probe: new Probe(prober, probed, history),
      listeners: cluster.nodes.length === 1 ? null : new Listeners(listeners, isLong ? 1_000 : 60, direct, quiet),
      reconnectMilliseconds: [],
      flood: { sender: flooder, readers: slow, dropped: 0 },
      corrupted: { people: corrupted, room: spoilt, flips: 0 },
      stranger: { person: stranger, room: quiet, closed },
    },
  }
}

const repeated = <T>(list: readonly T[], size: number): T[] =>
  Array.from({ length: size }, (_, at) => list[at % list.length]).filter((one) => one !== undefined)
