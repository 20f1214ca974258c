import type { Core, Room } from './core.ts'
import { isLeased } from './leases.ts'
import type { Row } from './types.ts'

export interface Fate {
  /** How many of the rows, from the first, are in the log. */
  standing: number
  /** The row that holds the idempotency key of the first row that is not. */
  repeated: Row | null
  /** May the others still come to stand, by an insert whose answer was lost? */
  isOpen: boolean
}

/**
 * Inserts the rows and ends when their fate is known; an answer that was lost is found out from the log. Only where this node's
 * leases run out meanwhile it is left open: others no longer wait for us, and so nothing is sent again that was judged before.
 */
export async function append(core: Core, room: Room, rows: readonly Row[]): Promise<Fate> {
  const term = core.leaseTerm
  const mayRepeat = () => core.leaseTerm === term && isLeased(core)
  room.pins++
  try {
    let standing = 0
    for (let pause = 5; ; pause = Math.min(2 * pause, 250)) {
      const isDuplicate = await insert(core, rows.slice(standing))
      if (isDuplicate === null) return fate(rows.length)
      if (!isDuplicate && !core.on('find out an unknown fate')) return fate(standing)
      await read(core, room)
      while (standing < rows.length && isOurs(room, rows[standing])) standing++
      const next = rows[standing]
      if (!next) return fate(standing)
      if (room.view.seq >= next.seq) {
        room.contestedAt = core.clock.now()
        core.hints.publish({ kind: 'collided', node: core.node, room: room.key })
        core.observer?.collided()
        return fate(standing)
      }
      const repeated = isDuplicate ? await core.store.byCid(room.key, next.sender, next.cid).catch(() => null) : null
      if (repeated) return { ...fate(standing), repeated }
      core.observer?.retried()
      await core.clock.sleep(pause)
      if (core.isClosed) return fate(standing)
      if (!mayRepeat() && core.on('send nothing again without a lease')) return { ...fate(standing), isOpen: true }
    }
  } finally {
    room.pins--
  }
}

function fate(standing: number): Fate {
  return { standing, repeated: null, isOpen: false }
}

/** Null when all is stored, else whether a row with such a key is there already. */
async function insert(core: Core, rows: readonly Row[]): Promise<boolean | null> {
  try {
    core.failpoint?.('before-append')
    await core.store.insert(rows)
    core.failpoint?.('after-append')
    return null
  } catch (error) {
    return core.isDuplicate(error)
  }
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
