import type { Connection, Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { type StoredStream, Streams, Viewers } from './model.ts'
import { notifyWatchers } from './notices.ts'
import { windowMilliseconds } from './states.ts'

/** A viewer whose connection is lost counts for so long, as a page that reloads comes back. */
const returnMilliseconds = 10_000
const rowsAtOnce = 1_000
/** Guests of one address who count separately, and new ones within five minutes. */
const mostGuests = 20
/** So many guests above the cap are remembered, to notice when the last of them has left. */
const mostOverflow = 1_000

export interface Viewer {
  /** The key of the person. */
  viewer: string
  /** The key of the address of a guest, under which all guests above its cap count as one. */
  address: string | null
}

/** The guests of one address; each has the time until which a REST call counts them, or 0. */
interface Guests {
  counted: Map<string, number>
  overflow: Map<string, number>
  /** New guests, each with the time when they stop counting as new. */
  recentlyAdded: Map<string, number>
  /** The row of the overflow, as it was saved. */
  saved: { until: number; isHeld: boolean }
}

/** A change of the row of a viewer. `until` 0 ends what a REST call began; a field that is absent stays. */
interface Change {
  isHeld?: boolean
  until?: number
  isBeyond?: boolean
}

interface Watched {
  guests: Map<string, Guests>
  /** Viewers with connections to this node. */
  held: Map<string, { address: string | null; connections: Set<string> }>
  unsaved: Map<string, Change>
  flush: () => Promise<void>
  usedAt: number
}
const watchedOn = nodeState(() => new Map<string, Watched>())

function watchedOf(node: Node, stream: string): Watched {
  const watched = watchedOn(node).get(stream) ?? newWatched(node, stream)
  watched.usedAt = performance.now()
  watchedOn(node).set(stream, watched)
  return watched
}

function newWatched(node: Node, stream: string): Watched {
  const unsaved = new Map<string, Change>()
  return {
    ...{ guests: new Map(), held: new Map(), unsaved, usedAt: 0 },
    flush: oneAtATime(() => write(node, stream, unsaved)),
  }
}

/** Does some work once at a time: callers that come while it is done share the next turn. */
function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | null = null
  const begin = () => {
    next = null
    return work()
  }
  return () => {
    next ??= last.then(begin, begin)
    last = next
    return next
  }
}

/** Counts a viewer while a connection is open. A connection that names another viewer than before counts as the later one. */
export async function holdViewer(
  node: Node,
  stream: string,
  { viewer, address }: Viewer,
  connection: Connection,
  onLost: () => void,
): Promise<void> {
  const { held } = watchedOf(node, stream)
  const one = held.get(viewer) ?? { address, connections: new Set() }
  held.set(viewer, one)
  one.connections.add(connection.id)
  const { memory, id } = connection
  const slot = `viewer ${stream}`
  const lose = (lost: unknown) => {
    if (typeof lost === 'string') drop(node, stream, lost, id).then(onLost, () => undefined)
  }
  const before = memory.get(slot)
  if (!memory.has(slot))
    connection.onClose(() => {
      const lost = memory.get(slot)
      setTimeout(() => lose(lost), returnMilliseconds).unref()
    })
  memory.set(slot, viewer)
  if (before !== viewer) lose(before)
  await (one.address === null
    ? save(node, stream, viewer, { isHeld: true })
    : countGuest(node, stream, { viewer, address: one.address }, null))
}

/** False where the connection held no viewer. */
export async function releaseViewer(node: Node, stream: string, { memory, id }: Connection): Promise<boolean> {
  const slot = `viewer ${stream}`
  const viewer = memory.get(slot)
  if (typeof viewer !== 'string') return false
  memory.set(slot, null)
  await drop(node, stream, viewer, id)
  // A change that could not be saved before is saved now.
  await watchedOf(node, stream).flush()
  return true
}

async function drop(node: Node, stream: string, viewer: string, connection: string): Promise<void> {
  const { held } = watchedOf(node, stream)
  const one = held.get(viewer)
  if (!one?.connections.delete(connection) || one.connections.size > 0) return
  held.delete(viewer)
  await Promise.all([
    save(node, stream, viewer, { isHeld: false }),
    one.address === null ? null : saveGuests(node, stream, one.address),
  ])
}

/** Counts a viewer over REST for five minutes, or no more. */
export async function viewOverRest(
  node: Node,
  stream: string,
  { viewer, address: asked }: Viewer,
  isThere: boolean,
): Promise<void> {
  const until = isThere ? node.now() + windowMilliseconds : 0
  const address = asked === null ? null : (watchedOf(node, stream).held.get(viewer)?.address ?? asked)
  await (address === null
    ? save(node, stream, viewer, { until })
    : countGuest(node, stream, { viewer, address }, until))
}

/** `until` null keeps the time of an earlier call over REST. */
async function countGuest(
  node: Node,
  stream: string,
  { viewer, address }: Viewer & { address: string },
  until: number | null,
): Promise<void> {
  const { guests: all } = watchedOf(node, stream)
  const none = { counted: new Map(), overflow: new Map(), recentlyAdded: new Map(), saved: { until: 0, isHeld: false } }
  const guests = all.get(address) ?? none
  all.set(address, guests)
  add(guests, viewer, until)
  await Promise.all([
    saveGuests(node, stream, address, viewer),
    until === 0 ? save(node, stream, viewer, { until }) : null,
  ])
}

/** Adds a guest: counted below the cap of their address, else overflow, as keys and sockets cost nothing. */
function add({ counted, overflow }: Guests, guest: string, until: number | null): void {
  const among = counted.has(guest) ? counted : overflow
  if (among.has(guest) || among.size < mostOverflow) among.set(guest, until ?? among.get(guest) ?? 0)
}

/** Forgets guests who are gone, and gives their places to the first of the overflow. */
function promote({ counted, overflow, recentlyAdded }: Guests, isHeld: (guest: string) => boolean, now: number) {
  for (const all of [counted, overflow])
    for (const [guest, until] of all) if (until <= now && !isHeld(guest)) all.delete(guest)
  for (const [guest, until] of recentlyAdded) if (until <= now) recentlyAdded.delete(guest)
  const promoted = [...overflow].slice(0, Math.max(0, mostGuests - counted.size))
  for (const [guest, until] of promoted) {
    overflow.delete(guest)
    counted.set(guest, until)
    if (recentlyAdded.size < mostGuests) recentlyAdded.set(guest, now + windowMilliseconds)
  }
  return promoted.map(([guest]) => guest)
}

/** Saves who is promoted at an address, this guest where they are counted, and the row of the overflow. */
async function saveGuests(node: Node, stream: string, address: string, changed?: string): Promise<void> {
  const { guests: all, held } = watchedOf(node, stream)
  const guests = all.get(address)
  if (!guests) return
  const { counted, overflow, recentlyAdded, saved } = guests
  const now = node.now()
  const isHeld = (guest: string) => held.has(guest)
  const promoted = promote(guests, isHeld, now)
  const rows = [...counted].filter(([guest]) => guest === changed || promoted.includes(guest))
  guests.saved = { until: Math.max(0, ...overflow.values()), isHeld: [...overflow.keys()].some(isHeld) }
  const { until, isHeld: isOverflowHeld } = guests.saved
  await Promise.all([
    ...rows.map(([guest, asked]) =>
      save(node, stream, guest, {
        ...(isHeld(guest) ? { isHeld: true } : {}),
        ...(asked > now ? { until: asked } : {}),
        isBeyond: !recentlyAdded.has(guest),
      }),
    ),
    until === saved.until ? null : save(node, stream, address, { until }),
    isOverflowHeld === saved.isHeld ? null : save(node, stream, address, { isHeld: isOverflowHeld }),
  ])
}

function save(node: Node, stream: string, viewer: string, change: Change): Promise<void> {
  const { unsaved, flush } = watchedOf(node, stream)
  unsaved.set(viewer, { ...unsaved.get(viewer), ...change })
  return flush()
}

/** Writes all changes together; a change that comes meanwhile is written next, with what could not be written. */
async function write(node: Node, stream: string, unsaved: Map<string, Change>): Promise<void> {
  const rows = [...unsaved]
  unsaved.clear()
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce)
    try {
      await Viewers.bulkWrite(
        some.map(([viewer, change]) => ({ updateOne: updateOf(node, stream, viewer, change) })),
        { ordered: false },
      )
    } catch (error) {
      for (const [viewer, change] of rows.slice(at)) unsaved.set(viewer, { ...change, ...unsaved.get(viewer) })
      throw error
    }
  }
}

const updateOf = (node: Node, stream: string, viewer: string, { isHeld, until, isBeyond }: Change) => ({
  filter: { _id: `${stream}|${viewer}` },
  update: {
    $setOnInsert: { stream, first_at: new Date(node.now()), ...(isBeyond ? { beyond: true as const } : {}) },
    ...(isHeld === undefined ? {} : { [isHeld ? '$addToSet' : '$pull']: { nodes: node.id } }),
    ...(until === undefined ? {} : { $set: { until: until === 0 ? null : new Date(until) } }),
  },
  upsert: isHeld === true || (until ?? 0) > 0,
})

/** Writes what could not be written, promotes guests to places that are free, and forgets streams that nobody watches here. */
async function keepViewers(node: Node): Promise<void> {
  for (const [id, { held, unsaved, guests: all, flush, usedAt }] of watchedOn(node)) {
    const isOver = performance.now() - usedAt > windowMilliseconds
    for (const [address, { counted, overflow, recentlyAdded }] of all) {
      await saveGuests(node, id, address)
      if (counted.size + overflow.size + recentlyAdded.size === 0) all.delete(address)
    }
    if (unsaved.size > 0) await flush()
    if (isOver && held.size === 0 && unsaved.size === 0) watchedOn(node).delete(id)
  }
}

/** Streams with at most so many rows are counted for each answer, as a count reads all rows. */
const mostRowsCountedAtOnce = 500
/** The minimum pause after a count. After a long count, the pause is a multiple of its time. */
const pauseMilliseconds = 1_000
const pauseFactor = 3
const longestPauseMilliseconds = 5_000

interface Counter {
  /** Counts once at a time, stores the counts, and notifies watchers where the pause is over. */
  run: () => Promise<StoredStream | null>
  timer: NodeJS.Timeout | null
  /** The earliest time of the next notice. */
  nextAt: number
  rows: number
  /** Watchers were not notified of the last counts. */
  isDue: boolean
}
const countersOn = nodeState(() => new Map<string, Counter>())

function counterOf(node: Node, id: string): Counter {
  const known = countersOn(node).get(id)
  if (known) return known
  const counter: Counter = {
    ...{ timer: null, nextAt: Number.NEGATIVE_INFINITY, rows: 0, isDue: false },
    run: oneAtATime(() => countViewers(node, id, counter)),
  }
  countersOn(node).set(id, counter)
  return counter
}

/** The stream with its current counts; null for a large one, which is counted within a second. */
export async function countViewersNow(node: Node, id: string): Promise<StoredStream | null> {
  const { rows, run } = counterOf(node, id)
  if (rows <= mostRowsCountedAtOnce) return run()
  countViewersSoon(node, id)
  return null
}

export function countViewersSoon(node: Node, id: string): void {
  const counter = counterOf(node, id)
  const wait = Math.max(0, counter.nextAt - performance.now())
  counter.timer ??= setTimeout(() => {
    counter.timer = null
    counter.run().catch((error: unknown) => node.logger.warn({ error }, 'viewers could not be counted'))
  }, wait).unref()
}

async function countViewers(node: Node, id: string, counter: Counter): Promise<StoredStream | null> {
  const startedAt = performance.now()
  const stream = await countRows(node, id, counter)
  const endedAt = performance.now()
  if (endedAt < counter.nextAt) {
    if (counter.isDue) countViewersSoon(node, id)
    return stream
  }
  const pause = Math.min(longestPauseMilliseconds, pauseFactor * (endedAt - startedAt))
  counter.nextAt = endedAt + Math.max(pauseMilliseconds, pause)
  if (counter.isDue) await notifyWatchers(node, id)
  counter.isDue = false
  return stream
}

/** Counts rows, and adds nothing up. Of two nodes that count at once, the later one counts again. */
async function countRows(node: Node, id: string, counter: Counter): Promise<StoredStream | null> {
  const held = { stream: id, nodes: { $in: node.alone ? [node.id] : [...node.nodes.live()] } }
  for (let tries = 0; tries < 4; tries++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    if (!stream) return null
    const now = new Date(node.now())
    const isOver = stream.status === 'ended'
    const [viewers, sockets, rows, beyond] = await Promise.all([
      isOver ? 0 : Viewers.countDocuments({ stream: id, $or: [held, { until: { $gt: now } }] }),
      isOver ? 0 : Viewers.countDocuments(held),
      Viewers.countDocuments({ stream: id }),
      Viewers.countDocuments({ stream: id, beyond: true }),
    ])
    counter.rows = rows
    const counts = {
      viewer_count: viewers,
      socket_viewers: Math.min(sockets, viewers),
      unique_viewers: Math.max(rows - beyond, stream.unique_viewers),
      peak_viewers: Math.max(stream.peak_viewers, viewers),
    }
    if (Object.entries(counts).every(([name, value]) => stream[name as keyof typeof counts] === value)) return stream
    const change = { $set: { ...counts, counted_at: now }, $inc: { counts_v: 1 } }
    const { matchedCount } = await Streams.updateOne({ _id: id, counts_v: stream.counts_v }, change)
    if (matchedCount === 0) continue
    counter.isDue = true
    return { ...stream, ...counts, counts_v: stream.counts_v + 1, counted_at: now }
  }
  // Other nodes count at this moment: their counts hold until the next look.
  countViewersSoon(node, id)
  return null
}

/** Renews the viewers of this node; the first node counts all. REST viewers leave without notice, and nodes die. */
export async function sweepViewers(node: Node, isFirst = true): Promise<void> {
  const counted = isFirst ? await Streams.find({ viewer_count: { $gt: 0 } }, { _id: 1 }).lean<{ _id: string }[]>() : []
  for (const { _id } of counted) await counterOf(node, _id).run()
  await keepViewers(node)
  const now = performance.now()
  for (const [id, { timer, nextAt }] of countersOn(node))
    if (timer === null && now - nextAt > windowMilliseconds) countersOn(node).delete(id)
}
