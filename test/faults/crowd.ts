import { Asker } from './asker.ts'
import { Attender, type Meeting } from './attender.ts'
import type { Person } from './client.ts'
import type { Cluster } from './cluster.ts'
import type { History } from './history.ts'
import { Listeners } from './listeners.ts'
import { eventIds } from './media.ts'
import { Moderator, Observer } from './moderators.ts'
import { Payer } from './payer.ts'
import { Probe } from './probe.ts'
import type { Random } from './random.ts'
import { Reader } from './reader.ts'
import { type Place, type Room, Sender, type Talk } from './sender.ts'
import { Setup } from './setup.ts'
import type { Step } from './steps.ts'
import { Uploader } from './uploader.ts'
import { doorsOf, type World } from './world.ts'

/** The participants of a run. */
export interface Crowd {
  rooms: readonly Room[]
  spoilt: ReadonlySet<string>
  senders: readonly Sender[]
  readers: readonly Reader[]
  moderators: readonly Moderator[]
  observer: Observer
  askers: readonly Asker[]
  payers: readonly Payer[]
  media: Media | null
  latencies: readonly number[]
  world: World
}

/** Who uploads and names files in a room, and who joins rooms of attendance. */
interface Media {
  room: Room
  meetings: readonly Meeting[]
  uploaders: readonly Uploader[]
  attenders: readonly Attender[]
}

export interface CrowdOptions {
  isLong: boolean
  history: History
  random: Random
  breaches: string[]
  step: Step
}

const talkersInRoom = 5
/** The longest text in characters, of four bytes each. */
const fourBytes = '🏛'
const busy: Omit<Talk, 'room'> = { window: 4, pauseMilliseconds: 120 }
const serial: Omit<Talk, 'room'> = { window: 1, pauseMilliseconds: 20 }

/** The people of a cluster: senders and readers in two rooms, moderators with the people they act on, and misbehaving clients. */
export async function gather(
  cluster: Cluster,
  { isLong, history, random, breaches, step }: CrowdOptions,
): Promise<Crowd> {
  const setup = await Setup.open(cluster.nodes[0]?.url ?? '')
  const latencies: number[] = []
  const place = (door: Parameters<typeof doorsOf>[1]): Place => ({
    doors: () => doorsOf(cluster, door),
    history,
    random: random.fork(),
    latencies,
  })
  const direct: Place = { ...place('senders'), doors: () => cluster.nodes.map(({ url }) => url) }
  const [talkers, listeners, judges, victims, corrupted, curious] = await Promise.all([
    setup.people('talker', 2 * talkersInRoom),
    setup.people('listener', 8),
    setup.people('judge', 2),
    setup.people('victim', 3),
    setup.people('corrupted', 2),
    setup.people('curious', 4),
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
  const sold = { agent: await setup.agent(setup.owner, true), payee: setup.owner.account }
  const askerAt = async (name: string, person: Person, at: number) =>
    new Asker(name, person, await setup.agent(person), { ...place(at % 2 === 0 ? 'readers' : 'senders'), at })
  const askers = await Promise.all(curious.map((person, at) => askerAt(`asker-${at}`, person, at)))
  const [provoker, ...asking] = askers
  if (!provoker) throw new Error('Nobody came')

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
  // Each of them catches up with tens of megabytes: more of them leave nothing of two cores to anybody else.
  const slow = readersOf(flooded, 'slow', isLong ? repeated(listeners, 20) : listeners.slice(0, 3), direct)
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
    askers: asking,
    media: await gatherMedia(cluster, setup, place),
    payers: [0, 1].map((at) => new Payer(`payer-${at}`, sold, place('senders'))),
    observer: new Observer(stranger, place('moderators'), court),
    latencies,
    world: {
      cluster,
      history,
      isLong,
      breaches,
      step,
      probe: new Probe(prober, probed, history),
      listeners: cluster.nodes.length === 1 ? null : new Listeners(listeners, isLong ? 1_000 : 60, direct, quiet),
      reconnectMilliseconds: [],
      flood: { sender: flooder, readers: slow, dropped: 0 },
      provoker,
      corrupted: { people: corrupted, room: spoilt, flips: 0 },
      stranger: { person: stranger, room: quiet, closed },
    },
  }
}

async function gatherMedia(
  { services }: Cluster,
  setup: Setup,
  place: (door: Parameters<typeof doorsOf>[1]) => Place,
): Promise<Media | null> {
  if (!services) return null
  const [uploading, holders, strangers] = await Promise.all([
    setup.people('uploader', 3),
    setup.people('holder', 4),
    setup.people('outsider', 4),
  ])
  for (const { account } of [setup.owner, ...holders])
    for (const event of eventIds) services.tokens.mint(account, event)
  const meetings: Meeting[] = []
  for (const event of eventIds) meetings.push(await setup.meeting(event))
  const room = await setup.room(uploading)
  const attender = (name: string, isHolder: boolean) => (person: Person, at: number) =>
    new Attender(`${name}-${at}`, { person, isHolder }, meetings, place('readers'))
  return {
    room,
    meetings,
    uploaders: uploading.map((person, at) => new Uploader(`uploader-${at}`, person, room, { ...place('senders'), at })),
    attenders: [...holders.map(attender('holder', true)), ...strangers.map(attender('outsider', false))],
  }
}

const repeated = <T>(list: readonly T[], size: number): T[] =>
  Array.from({ length: size }, (_, at) => list[at % list.length]).filter((one) => one !== undefined)
