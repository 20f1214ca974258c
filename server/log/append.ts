import { type Core, isIsolated, type Room } from './core.ts'
import { mayAct } from './leases.ts'
import { type Row, SKIPPED } from './types.ts'

interface InsertFate {
  /** How many of the rows, from the first, are committed. */
  committed: number
  /** The row that has the idempotency key of the first row not committed. */
  repeated: Row | null
  /** May the other rows still be committed, by an insert without an answer? */
  isInDoubt: boolean
  /** The error of the first row that can never be committed, because an empty row has its place. */
  refused: unknown
}

/**
 * Inserts the rows until each is committed or refused; after a lost answer the log shows which. If this node's lease
 * expires meanwhile, the rows stay in doubt. Other nodes wait for it no longer, so nothing judged earlier is sent
 * again.
 */
export async function appendRows(core: Core, room: Room, rows: readonly Row[]): Promise<InsertFate> {
  const term = core.leaseTerm
  const isLive = () => core.leaseTerm === term && mayAct(core)
  room.pins++
  try {
    let committed = 0
    let width = rows.length
    for (let pause = 5; ; pause = Math.min(2 * pause, 250)) {
      const sent = rows.slice(committed, committed + width)
      const failure = await insert(core, sent)
      if (!failure) committed += sent.length
      if (committed === rows.length) return fate(committed)
      if (!failure) continue
      if (!core.policy.mayBeStored(failure.isDuplicate)) return fate(committed)
      await read(core, room)
      while (committed < rows.length && isOurs(room, rows[committed])) committed++
      const next = rows[committed]
      if (!next) return fate(committed)
      if (room.view.seq >= next.seq) {
        room.contestedAt = core.clock.elapsed()
        core.hints.publish({ kind: 'collided', node: core.node, room: room.key })
        core.observer?.collided()
        return fate(committed)
      }
      const repeated = failure.isDuplicate
        ? await core.store.byCid(room.key, next.sender, next.cid).catch(() => null)
        : null
      if (repeated) return { ...fate(committed), repeated }
      if (core.isNeverSent(failure.error) || isIsolated(room)) {
        width = Math.ceil(sent.length / 2)
        if (sent.length > 1) continue
        if (await skip(core, room, next)) return { ...fate(committed), refused: failure.error }
      }
      core.observer?.retried()
      await core.clock.sleep(pause)
      if (core.isClosed) return fate(committed)
      if (!core.policy.mayRepeat(isLive())) return { ...fate(committed), isInDoubt: true }
    }
  } finally {
    room.pins--
  }
}

function fate(committed: number): InsertFate {
  return { committed, repeated: null, isInDoubt: false, refused: null }
}

/** Null if all rows were stored. */
async function insert(core: Core, rows: readonly Row[]): Promise<{ isDuplicate: boolean; error: unknown } | null> {
  try {
    core.policy.reached('before-append')
    await core.store.insert(rows)
    core.policy.reached('after-append')
    return null
  } catch (error) {
    return { isDuplicate: core.isDuplicate(error), error }
  }
}

/** Inserts an empty row in place of one that the store refuses. A late insert of that row then cannot commit. */
async function skip(core: Core, room: Room, row: Row): Promise<boolean> {
  const { total, chain } = room.view
  const empty = { type: SKIPPED, body: { actor: { name: '', role: null } }, target: null, until: null, reason: null }
  const ids = { _id: core.newId(), cid: core.newId() }
  try {
    await core.store.insert([{ ...row, ...empty, ...ids, n: null, total, chain, chained: false }])
  } catch {
    return false
  }
  await read(core, room)
  return true
}

async function read(core: Core, room: Room): Promise<void> {
  for (let pause = 5; !core.isClosed; pause = Math.min(2 * pause, 250)) {
    try {
      return await room.refresh()
    } catch {
      await core.clock.sleep(pause)
    }
  }
}

function isOurs(room: Room, row: Row | undefined): boolean {
  return row !== undefined && room.ring.at(row.seq)?._id === row._id
}
