import type { Core, Room } from './core.ts'
import { readMissedRows } from './follower.ts'
import { observePeers, renewLeases } from './leases.ts'
import { closeIdleRooms } from './opening.ts'
import { learnMaterialised, writeLateRecords } from './records.ts'
import { isolateStuck } from './turn.ts'

const overlapMilliseconds = 5_000
const comparisonMilliseconds = 25_000
const roomsAQuery = 200

/** Reads missed rows even if every hint is lost, renews leases and closes idle rooms. */
export async function pollRooms(core: Core): Promise<void> {
  let polledAt = core.clock.now()
  let comparedAt = core.clock.elapsed()
  for (;;) {
    await core.clock.sleep(core.hints.pollMilliseconds())
    if (core.isClosed) return
    const [now, elapsed] = [core.clock.now(), core.clock.elapsed()]
    isolateStuck(core)
    if (!core.store.alone && core.rooms.size > 0) {
      let hasLostPeer = false
      await alone(async () => {
        await renewLeases(core)
        hasLostPeer = await observePeers(core)
      })
      await alone(async () => {
        await followHeads(core, polledAt - overlapMilliseconds)
        polledAt = now
      })
      if (hasLostPeer || elapsed - comparedAt >= comparisonMilliseconds)
        await alone(async () => {
          await compare(core)
          comparedAt = elapsed
        })
    }
    await each(openRooms(core), (room) => writeLateRecords(core, room))
    closeIdleRooms(core)
    core.observer?.follows(core.rooms.size)
  }
}

/** Failed work is done again in the next round, and delays nothing else. */
const alone = (work: () => Promise<void>): Promise<void> => work().catch(() => {})

const each = async (rooms: readonly Room[], work: (room: Room) => Promise<void>): Promise<void> => {
  await Promise.all(rooms.map((room) => alone(() => work(room))))
}

const openRooms = (core: Core): Room[] => [...core.rooms.values()].filter((room) => room.isOpen)

async function followHeads(core: Core, since: number): Promise<void> {
  const heads = await core.store.headsMovedSince(since)
  const ofRoom = new Map(heads.map((head) => [head.room, head]))
  await each(openRooms(core), async (room) => {
    const head = ofRoom.get(room.key)
    if (!head) return
    if (head.seq > room.view.seq) await readMissedRows(core, room, 'poll')
    room.head.raise(head.seq)
    learnMaterialised(room, head.materialised)
  })
}

/** A head may never have been raised, so the log itself is searched for newer rows. */
async function compare(core: Core): Promise<void> {
  const rooms = openRooms(core)
  for (let start = 0; start < rooms.length; start += roomsAQuery) {
    const asked = rooms.slice(start, start + roomsAQuery)
    const advanced = new Set(await core.store.advanced(asked.map(({ key, view }) => ({ room: key, seq: view.seq }))))
    await each(
      asked.filter(({ key }) => advanced.has(key)),
      (room) => readMissedRows(core, room, 'comparison'),
    )
  }
}
