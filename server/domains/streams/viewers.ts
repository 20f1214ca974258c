import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Connection, Context, Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { admit, type Guests, isEmpty, noGuests, seat } from './guests.ts'
import { type StoredStream, Streams, Viewers } from './model.ts'
import { windowMilliseconds } from './states.ts'
import { tellStream } from './told.ts'

/** So long somebody whose connection is gone is counted, as a page that is loaded anew comes back. */
const backMilliseconds = 10_000
const countMilliseconds = 1_000
/** Of so few an answer has the count of this moment: a count reads them all. */
const countedAtOnce = 500
/** A count reads every row of a stream: where there are so many that it takes long, the pause after it is this many times as long. */
const pauseFactor = 3
const longestPauseMilliseconds = 5_000
const rowsAtOnce = 1_000

/** Of an id in base64, and of what marks it as ours in the cookie of a browser, which has 43 characters. */
const [idLength, markLength] = [22, 21]

/** Who somebody is to the count, with the address of those who are not signed in. */
export interface Viewer {
  viewer: string
  address: string | null
}

interface Held {
  /** Where a guest came from first. */
  address: string | null
  connections: Set<string>
}

/** What is to be stored of somebody: whether this node holds them, and whether they are nobody new to the stream. */
interface Holding {
  isHeld: boolean
  isBeyond: boolean
}

interface Watched {
  /** By their address. */
  guests: Map<string, Guests>
  /** Who has connections to this node. */
  held: Map<string, Held>
  /** Written soon. */
  dirty: Map<string, Holding>
  writing: Promise<void> | null
  counting: NodeJS.Timeout | null
  running: Promise<StoredStream | null> | null
  /** For those who ask while it is being counted, which may have missed what they did. */
  next: Promise<StoredStream | null> | null
  rows: number
  /** It was counted, and was not told yet. */
  isUntold: boolean
  /** Somebody came or went while it was counted. */
  isDue: boolean
  countedAt: number
  pause: number
  usedAt: number
}
const watchedOn = nodeState(() => new Map<string, Watched>())

function watchedOf(node: Node, stream: string): Watched {
  const all = watchedOn(node)
  const known = all.get(stream)
  if (known) {
    known.usedAt = performance.now()
    return known
  }
  const made: Watched = {
    guests: new Map(),
    held: new Map(),
    dirty: new Map(),
    writing: null,
    counting: null,
    running: null,
    next: null,
    rows: 0,
    isUntold: false,
    isDue: false,
    countedAt: Number.NEGATIVE_INFINITY,
    pause: countMilliseconds,
    usedAt: performance.now(),
  }
  all.set(stream, made)
  return made
}

/**
 * Counts somebody as long as a connection watches, and ten seconds after it is lost; a connection that names another viewer than before is
 * the later one alone. Null where they are counted within a second.
 */
export async function hold(
  node: Node,
  stream: string,
  { viewer, address }: Viewer,
  connection: Connection,
): Promise<StoredStream | null> {
  const { held } = watchedOf(node, stream)
  const one = held.get(viewer) ?? { address, connections: new Set() }
  held.set(viewer, one)
  one.connections.add(connection.id)
  const memory = `viewer ${stream}`
  const before = connection.memory.get(memory)
  if (before !== viewer) {
    if (typeof before === 'string') release(node, stream, before, connection.id)
    connection.memory.set(memory, viewer)
    releaseOnClose(node, stream, connection)
  }
  if (one.address === null) await writeHolding(node, stream, viewer, { isHeld: true, isBeyond: false })
  else await come(node, stream, { viewer, address: one.address }, null)
  return countNow(node, stream)
}

/** Once for each stream that a connection watches, whoever it says that it is. */
function releaseOnClose(node: Node, stream: string, connection: Connection): void {
  const memory = `released ${stream}`
  if (connection.memory.has(memory)) return
  connection.memory.set(memory, true)
  connection.onClose(() => {
    const viewer = connection.memory.get(`viewer ${stream}`)
    if (typeof viewer !== 'string') return
    setTimeout(() => release(node, stream, viewer, connection.id), backMilliseconds).unref()
  })
}

/** Counts somebody no more who watched over a connection. */
export async function letGo(node: Node, stream: string, connection: Connection): Promise<StoredStream | null> {
  const viewer = connection.memory.get(`viewer ${stream}`)
  if (typeof viewer !== 'string') return null
  connection.memory.delete(`viewer ${stream}`)
  await leave(node, stream, viewer, connection.id)
  await flush(node, stream)
  return countNow(node, stream)
}

function release(node: Node, stream: string, viewer: string, connection: string): void {
  void leave(node, stream, viewer, connection).then(
    () => countSoon(node, stream),
    () => undefined,
  )
}

async function leave(node: Node, stream: string, viewer: string, connection: string): Promise<void> {
  const watched = watchedOf(node, stream)
  const { held } = watched
  const one = held.get(viewer)
  if (!one?.connections.delete(connection) || one.connections.size > 0) return
  held.delete(viewer)
  await Promise.all([
    writeHolding(node, stream, viewer, { isHeld: false, isBeyond: false }),
    one.address === null ? null : seatAt(node, stream, watched, one.address),
  ])
}

function writeHolding(node: Node, stream: string, viewer: string, holding: Holding): Promise<void> {
  watchedOf(node, stream).dirty.set(viewer, holding)
  return flush(node, stream)
}

/** Writes who came and went, all of them together; who comes meanwhile is written next. */
function flush(node: Node, stream: string): Promise<void> {
  const watched = watchedOf(node, stream)
  const mine = (watched.writing ?? Promise.resolve())
    .catch(() => undefined)
    .then(() => write(node, stream, watched.dirty))
    .finally(() => {
      if (watched.writing === mine) watched.writing = null
    })
  watched.writing = mine
  return mine
}

async function write(node: Node, stream: string, dirty: Map<string, Holding>): Promise<void> {
  const rows = [...dirty]
  dirty.clear()
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce)
    try {
      await Viewers.bulkWrite(
        some.map(([viewer, { isHeld, isBeyond }]) => ({
          updateOne: {
            filter: { _id: `${stream}|${viewer}` },
            update: isHeld
              ? { $setOnInsert: { ...first(node, stream, isBeyond), until: null }, $addToSet: { nodes: node.id } }
              : { $pull: { nodes: node.id } },
            upsert: isHeld,
          },
        })),
        { ordered: false },
      )
    } catch (error) {
      // What was not written is written with the next.
      for (const [viewer, holding] of some) if (!dirty.has(viewer)) dirty.set(viewer, holding)
      throw error
    }
  }
}

/** What is stored of somebody who was not there before. */
const first = (node: Node, stream: string, isBeyond: boolean) => ({
  ...{ stream, first_at: new Date(node.now()) },
  ...(isBeyond ? { beyond: true } : {}),
})

/** Counts somebody who asks over REST for five minutes, or no more. */
export async function touch(
  node: Node,
  stream: string,
  { viewer, address }: Viewer,
  isThere: boolean,
): Promise<StoredStream | null> {
  const until = isThere ? node.now() + windowMilliseconds : 0
  const at = address === null ? null : (watchedOf(node, stream).held.get(viewer)?.address ?? address)
  if (at === null) await give(node, stream, viewer, until)
  else await come(node, stream, { viewer, address: at }, until)
  return countNow(node, stream)
}

/** Counts a row until then; 0 for no more. */
async function give(node: Node, stream: string, viewer: string, until: number, isBeyond = false): Promise<void> {
  const change = { $set: { until: until === 0 ? null : new Date(until) } }
  const made = until === 0 ? {} : { $setOnInsert: { ...first(node, stream, isBeyond), nodes: [] } }
  await Viewers.updateOne({ _id: `${stream}|${viewer}` }, { ...change, ...made }, { upsert: until !== 0 })
}

/** A guest says over REST that they watch until then or, with 0, no more; null for one whom a connection holds. */
async function come(
  node: Node,
  stream: string,
  { viewer, address }: Viewer & { address: string },
  until: number | null,
): Promise<void> {
  const watched = watchedOf(node, stream)
  const guests = watched.guests.get(address) ?? noGuests()
  watched.guests.set(address, guests)
  admit(guests, viewer, until)
  const seated = await seatAt(node, stream, watched, address)
  if (until === 0) await give(node, stream, viewer, 0)
  else if (guests.apart.has(viewer) && !seated.includes(viewer)) await store(node, stream, watched, guests, viewer)
}

/** Tells apart whom there is a place for, and stores that. */
async function seatAt(node: Node, stream: string, watched: Watched, address: string): Promise<string[]> {
  const guests = watched.guests.get(address)
  if (!guests) return []
  const isHeld = (guest: string) => watched.held.has(guest)
  const seated = seat(guests, isHeld, node.now())
  for (const guest of seated) await store(node, stream, watched, guests, guest)
  const { others, stored } = guests
  const now = { until: Math.max(0, ...others.values()), isHeld: [...others.keys()].some(isHeld) }
  guests.stored = now
  const together = `h:${digestOf(node, address)}`
  if (now.until !== stored.until) await give(node, stream, together, now.until)
  if (now.isHeld !== stored.isHeld) await writeHolding(node, stream, together, { isHeld: now.isHeld, isBeyond: false })
  return seated
}

async function store(node: Node, stream: string, { held }: Watched, guests: Guests, guest: string): Promise<void> {
  const isBeyond = !guests.lately.has(guest)
  const until = guests.apart.get(guest) ?? 0
  if (held.has(guest)) await writeHolding(node, stream, guest, { isHeld: true, isBeyond })
  if (until > node.now()) await give(node, stream, guest, until, isBeyond)
}

/**
 * Counts at once, and tells it where nothing was told within a second, or else when that second is over. Null where so many watch that it
 * is counted then as well.
 */
async function countNow(node: Node, stream: string): Promise<StoredStream | null> {
  const watched = watchedOf(node, stream)
  if (!watched.running && performance.now() - watched.countedAt >= watched.pause) return count(node, stream)
  countSoon(node, stream)
  if (watched.rows > countedAtOnce) return null
  if (!watched.running) return run(node, stream, false)
  watched.next ??= watched.running
    .catch(() => null)
    .then(() => {
      watched.next = null
      return run(node, stream, false)
    })
  return watched.next
}

export function countSoon(node: Node, stream: string): void {
  const watched = watchedOf(node, stream)
  if (watched.counting) return
  const wait = Math.max(0, watched.pause - (performance.now() - watched.countedAt))
  watched.counting = setTimeout(() => {
    watched.counting = null
    count(node, stream).catch((error: unknown) => node.logger.warn({ error }, 'viewers could not be counted'))
  }, wait).unref()
}

/** Counts and tells it, never twice at a time: where it is being counted, it is counted again, and the answer is null. */
async function count(node: Node, id: string): Promise<StoredStream | null> {
  const watched = watchedOf(node, id)
  if (watched.running) {
    watched.isDue = true
    return null
  }
  return run(node, id, true)
}

function run(node: Node, id: string, isTold: boolean): Promise<StoredStream | null> {
  const watched = watchedOf(node, id)
  const startedAt = performance.now()
  const running = countRows(node, id, isTold).finally(() => {
    const endedAt = performance.now()
    watched.running = null
    if (isTold) watched.countedAt = endedAt
    watched.pause = Math.max(countMilliseconds, Math.min(longestPauseMilliseconds, pauseFactor * (endedAt - startedAt)))
    if (!watched.isDue) return
    watched.isDue = false
    countSoon(node, id)
  })
  watched.running = running
  return running
}

/** Rows, and nothing else, say how many watch. Of two nodes that count at once, the later one looks again. */
async function countRows(node: Node, id: string, isTold: boolean): Promise<StoredStream | null> {
  const watched = watchedOf(node, id)
  const nodes = node.alone ? [node.id] : [...node.nodes.live()]
  for (let tries = 0; ; tries++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    if (!stream) {
      watchedOn(node).delete(id)
      return null
    }
    const now = node.now()
    const held = { stream: id, nodes: { $in: nodes } }
    const isOver = stream.status === 'ended'
    const [viewers, sockets, all, beyond] = await Promise.all([
      isOver ? 0 : Viewers.countDocuments({ stream: id, $or: [held, { until: { $gt: new Date(now) } }] }),
      isOver ? 0 : Viewers.countDocuments(held),
      Viewers.countDocuments({ stream: id }),
      Viewers.countDocuments({ stream: id, beyond: true }),
    ])
    const counted = {
      viewer_count: viewers,
      socket_viewers: Math.min(sockets, viewers),
      unique_viewers: Math.max(all - beyond, stream.unique_viewers),
      peak_viewers: Math.max(stream.peak_viewers, viewers),
    }
    const same = Object.entries(counted).every(([name, value]) => stream[name as keyof typeof counted] === value)
    watched.rows = all
    if (same) {
      if (isTold && watched.isUntold) await tell()
      return stream
    }
    const change = { $set: { ...counted, counted_at: new Date(now) }, $inc: { counts_v: 1 } }
    const { matchedCount } = await Streams.updateOne({ _id: id, counts_v: stream.counts_v }, change)
    if (matchedCount === 0 && tries < 3) continue
    if (matchedCount === 0) {
      // Others count it at this very moment; what they stored holds until it is looked at again.
      countSoon(node, id)
      return null
    }
    watched.isUntold = true
    if (isTold) await tell()
    return { ...stream, ...counted, counts_v: stream.counts_v + 1, counted_at: new Date(now) }
  }

  function tell(): Promise<void> {
    watched.isUntold = false
    return tellStream(node, id)
  }
}

/** Counts the streams that somebody watches: who asked over REST leaves without a word, and nodes die. */
export async function countWatched(node: Node): Promise<void> {
  const streams = await Streams.find({ viewer_count: { $gt: 0 } }, { _id: 1 }).lean<{ _id: string }[]>()
  for (const { _id } of streams) await count(node, _id)
  await keepWatched(node)
}

/** Writes what could not be written, gives places that are free to others, and forgets what nobody here watches any more. */
export async function keepWatched(node: Node): Promise<void> {
  for (const [id, watched] of watchedOn(node)) {
    const { held, dirty, guests, usedAt } = watched
    for (const [address, there] of guests) {
      await seatAt(node, id, watched, address)
      if (isEmpty(there)) guests.delete(address)
    }
    if (dirty.size > 0) await flush(node, id)
    const isOver = performance.now() - usedAt > windowMilliseconds
    if (isOver && held.size === 0 && dirty.size === 0) watchedOn(node).delete(id)
  }
}

/** Who somebody is to the count: an account, a browser that was given a mark of ours, or where they ask from. */
export function restViewer({ caller, browser, node }: Context): Viewer {
  if (caller.account !== null) return { viewer: `a:${caller.account}`, address: null }
  const known = knownBrowser(node, browser)
  if (known !== null) return { viewer: known, address: caller.ip }
  const day = new Date(node.now()).toISOString().slice(0, 10)
  return { viewer: `h:${digestOf(node, `${day} ${caller.ip} ${caller.userAgent}`)}`, address: caller.ip }
}

/** Null for one that has no mark of ours. */
function knownBrowser(node: Node, browser: string | null): string | null {
  const [id, mark] = [browser?.slice(0, idLength) ?? '', browser?.slice(idLength) ?? '']
  return isEqual(mark, digestOf(node, `browser ${id}`, markLength)) ? `b:${id}` : null
}

/** What a browser is given, by which it is known as one that we have seen. */
export function newBrowser(node: Node): string {
  const id = newId()
  return `${id}${digestOf(node, `browser ${id}`, markLength)}`
}

/** Who is not signed in is known by the mark of their browser, else by a key of ours that they say again, else by the connection that asks again. */
export function socketViewer(
  { caller, browser, node }: Context,
  connection: Connection,
  said: string | undefined,
): Viewer & { key: string | null } {
  if (caller.account !== null) return { viewer: `a:${caller.account}`, address: null, key: null }
  const memory = 'viewer key'
  const key =
    [said, connection.memory.get(memory)].find((one): one is string => isKey(node, one)) ?? keyOf(node, newId())
  connection.memory.set(memory, key)
  return { viewer: knownBrowser(node, browser) ?? `g:${key.slice(0, idLength)}`, address: caller.ip, key }
}

const keyOf = (node: Node, id: string) => `${id}.${digestOf(node, `viewer ${id}`)}`
const isKey = (node: Node, said: unknown) =>
  typeof said === 'string' && isEqual(said, keyOf(node, said.slice(0, idLength)))

const newId = () => randomBytes(16).toString('base64url')

const digestOf = ({ settings }: Node, text: string, length = idLength): string =>
  createHmac('sha256', settings.sessionKeys[0]?.secret ?? '')
    .update(`stream viewers ${text}`)
    .digest('base64url')
    .slice(0, length)

const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
