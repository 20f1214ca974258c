import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Connection, Context, Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
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

const guestsAtAddress = 20
/** So many others of an address are known, to find out when the last of them has left. */
const othersAtAddress = 1_000
/** Of an id in base64, and of what marks it as ours in the cookie of a browser, which has 43 characters. */
const [idLength, markLength] = [22, 21]

/** Who asks over REST from an address and is not signed in, each with the time until which they are counted. */
interface Marks {
  /** Each is counted as one. */
  apart: Map<string, number>
  /** All of them are one. */
  others: Map<string, number>
}

interface Watched {
  marks: Map<string, Marks>
  /** The connections of each viewer on this node. */
  held: Map<string, Set<string>>
  /** Written soon: whether this node holds them. */
  dirty: Map<string, boolean>
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
    marks: new Map(),
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
  viewer: string,
  connection: Connection,
): Promise<StoredStream | null> {
  const { held } = watchedOf(node, stream)
  const connections = held.get(viewer) ?? new Set()
  held.set(viewer, connections.add(connection.id))
  const memory = `viewer ${stream}`
  const before = connection.memory.get(memory)
  if (before !== viewer) {
    if (typeof before === 'string') release(node, stream, before, connection.id)
    connection.memory.set(memory, viewer)
    releaseOnClose(node, stream, connection)
  }
  await writeHolding(node, stream, viewer, true)
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
  release(node, stream, viewer, connection.id)
  await flush(node, stream)
  return countNow(node, stream)
}

function release(node: Node, stream: string, viewer: string, connection: string): void {
  const { held } = watchedOf(node, stream)
  const connections = held.get(viewer)
  if (!connections?.delete(connection) || connections.size > 0) return
  held.delete(viewer)
  void writeHolding(node, stream, viewer, false).then(
    () => countSoon(node, stream),
    () => undefined,
  )
}

function writeHolding(node: Node, stream: string, viewer: string, isHeld: boolean): Promise<void> {
  watchedOf(node, stream).dirty.set(viewer, isHeld)
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

async function write(node: Node, stream: string, dirty: Map<string, boolean>): Promise<void> {
  const rows = [...dirty]
  dirty.clear()
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const some = rows.slice(at, at + rowsAtOnce)
    try {
      await Viewers.bulkWrite(
        some.map(([viewer, isHeld]) => ({
          updateOne: {
            filter: { _id: `${stream}|${viewer}` },
            update: isHeld
              ? { $setOnInsert: { stream, first_at: new Date(node.now()), until: null }, $addToSet: { nodes: node.id } }
              : { $pull: { nodes: node.id } },
            upsert: isHeld,
          },
        })),
        { ordered: false },
      )
    } catch (error) {
      // What was not written is written with the next.
      for (const [viewer, isHeld] of some) if (!dirty.has(viewer)) dirty.set(viewer, isHeld)
      throw error
    }
  }
}

/** Counts somebody who asks over REST for five minutes, or no more. */
export async function touch(
  node: Node,
  stream: string,
  { viewer, address }: RestViewer,
  isThere: boolean,
): Promise<StoredStream | null> {
  const until = isThere ? node.now() + windowMilliseconds : null
  const change = address === null ? changeOf(viewer, until) : mark(node, stream, viewer, address, until)
  await give(node, stream, change)
  return countNow(node, stream)
}

/** Until when rows are counted; null for no more. */
type Leases = ReadonlyMap<string, number | null>
const changeOf = (viewer: string, until: number | null): Leases => new Map([[viewer, until]])

async function give(node: Node, stream: string, leases: Leases): Promise<void> {
  const first = { stream, first_at: new Date(node.now()), nodes: [] }
  for (const [viewer, until] of leases) {
    const change = { $set: { until: until === null ? null : new Date(until) } }
    const made = until === null ? {} : { $setOnInsert: first }
    await Viewers.updateOne({ _id: `${stream}|${viewer}` }, { ...change, ...made }, { upsert: until !== null })
  }
}

/** At one address so many marks are told apart at a time, and all others are one: marks are free, people are not. */
function mark(node: Node, stream: string, viewer: string, address: string, until: number | null): Leases {
  const { marks, held } = watchedOf(node, stream)
  const { apart, others } = marks.get(address) ?? { apart: new Map<string, number>(), others: new Map() }
  marks.set(address, { apart, others })
  const wereOthers = others.size > 0
  forgetOver(apart, node.now())
  forgetOver(others, node.now())
  const leases = new Map<string, number | null>()
  if (until === null) {
    apart.delete(viewer)
    others.delete(viewer)
    leases.set(viewer, null)
  } else if (held.has(viewer) || apart.has(viewer) || apart.size < guestsAtAddress) {
    others.delete(viewer)
    if (!held.has(viewer)) apart.set(viewer, until)
    leases.set(viewer, until)
  } else if (others.size < othersAtAddress) others.set(viewer, until)
  const [next] = others
  if (next && apart.size < guestsAtAddress) {
    // A place is free for one who had none.
    others.delete(next[0])
    apart.set(...next)
    leases.set(...next)
  }
  if (wereOthers || others.size > 0)
    leases.set(`h:${digestOf(node, address)}`, others.size > 0 ? Math.max(...others.values()) : null)
  return leases
}

function forgetOver(all: Map<string, number>, now: number): void {
  for (const [viewer, until] of all) if (until <= now) all.delete(viewer)
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
    const [viewers, sockets, unique] = await Promise.all([
      isOver ? 0 : Viewers.countDocuments({ stream: id, $or: [held, { until: { $gt: new Date(now) } }] }),
      isOver ? 0 : Viewers.countDocuments(held),
      Viewers.countDocuments({ stream: id }),
    ])
    const counted = {
      viewer_count: viewers,
      socket_viewers: Math.min(sockets, viewers),
      unique_viewers: Math.max(unique, stream.unique_viewers),
      peak_viewers: Math.max(stream.peak_viewers, viewers),
    }
    const same = Object.entries(counted).every(([name, value]) => stream[name as keyof typeof counted] === value)
    watched.rows = unique
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

/** Writes what could not be written, and forgets what nobody here watches any more. */
export async function keepWatched(node: Node): Promise<void> {
  for (const [id, { held, dirty, marks, usedAt }] of watchedOn(node)) {
    for (const [address, { apart, others }] of marks) {
      forgetOver(apart, node.now())
      forgetOver(others, node.now())
      if (apart.size + others.size === 0) marks.delete(address)
    }
    if (dirty.size > 0) await flush(node, id)
    const isOver = performance.now() - usedAt > windowMilliseconds
    if (isOver && held.size === 0 && dirty.size === 0) watchedOn(node).delete(id)
  }
}

/** With the address of those who are not signed in. */
interface RestViewer {
  viewer: string
  address: string | null
}

/** Who somebody is to the count: an account, a browser that was given a mark of ours, or where they ask from. */
export function restViewer({ caller, browser, node }: Context): RestViewer {
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
): { viewer: string; key: string | null } {
  if (caller.account !== null) return { viewer: `a:${caller.account}`, key: null }
  const memory = 'viewer key'
  const key =
    [said, connection.memory.get(memory)].find((one): one is string => isKey(node, one)) ?? keyOf(node, newId())
  connection.memory.set(memory, key)
  return { viewer: knownBrowser(node, browser) ?? `g:${key.slice(0, idLength)}`, key }
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
