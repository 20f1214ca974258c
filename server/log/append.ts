import type { Core, Room } from './core.ts'
import type { Row } from './types.ts'

export interface Fate {
  /** How many of the rows, from the first, are in the log. */
  standing: number
  /** The row that holds the idempotency key of the first row that is not. */
  repeated: Row | null
}

/** Inserts the rows and ends only when their fate is known; an answer that was lost is found out from the log. */
export async function append(core: Core, room: Room, rows: readonly Row[]): Promise<Fate> {
  room.pins++
  try {
    let standing = 0
    for (let pause = 5; ; pause = Math.min(2 * pause, 250)) {
      const isDuplicate = await insert(core, rows.slice(standing))
      if (isDuplicate === null) return { standing: rows.length, repeated: null }
      if (!isDuplicate && !core.on('find out an unknown fate')) return { standing, repeated: null }
      await read(core, room)
      while (standing < rows.length && isOurs(room, rows[standing])) standing++
      const next = rows[standing]
      if (!next) return { standing, repeated: null }
      if (room.view.seq >= next.seq) {
        room.collidedAt = core.clock.now()
        core.observer?.collided()
        return { standing, repeated: null }
      }
      const repeated = isDuplicate ? await core.store.byCid(room.key, next.sender, next.cid).catch(() => null) : null
      if (repeated) return { standing, repeated }
      core.observer?.retried()
      await core.clock.sleep(pause)
      if (core.isClosed) return { standing, repeated: null }
    }
  } finally {
    room.pins--
  }
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
