import type { Connection, Node } from '#server/kernel/context'
import { count, countNow, countSoon } from './counting.ts'
import { admit, type Guests, isEmpty, noGuests, seat } from './guests.ts'
import { type StoredStream, Streams, Viewers } from './model.ts'
import { windowMilliseconds } from './states.ts'
import { digestOf, type Viewer } from './viewer.ts'
import { type Holding, type Watched, watchedOf, watchedOn } from './watched.ts'

/** So long somebody whose connection is gone is counted, as a page that is loaded anew comes back. */
const backMilliseconds = 10_000
const rowsAtOnce = 1_000

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
