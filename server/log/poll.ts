import type { Core, Room } from './core.ts'
import { heal } from './follower.ts'
import { observePeers, renewLeases } from './leases.ts'
import { letGo } from './opening.ts'
import { learnApplied, sweep } from './records.ts'
import { isolateStuck } from './turn.ts'

const OVERLAP = 5_000
const COMPARISON = 25_000
const ROOMS_A_QUERY = 200

/** What keeps this node right when every hint is lost; and its housekeeping. */
export async function poll(core: Core): Promise<void> {
  let polledAt = core.clock.now()
  let comparedAt = core.clock.elapsed()
  for (;;) {
    await core.clock.sleep(core.hints.pollMilliseconds?.() ?? core.pollMilliseconds ?? 1_000)
    if (core.isClosed) return
    const [now, elapsed] = [core.clock.now(), core.clock.elapsed()]
    isolateStuck(core)
    try {
      if (!core.store.alone && core.rooms.size > 0) {
        await renewLeases(core)
        await observePeers(core)
        await followHeads(core, polledAt - OVERLAP)
        polledAt = now
        if (elapsed - comparedAt >= COMPARISON) {
          await compare(core)
          comparedAt = elapsed
        }
      }
      await Promise.all([...core.rooms.values()].filter((room) => room.isOpen).map((room) => sweep(core, room)))
    } catch {
      // The store is away; the next round does it all again.
    }
    letGo(core)
    core.observer?.follows(core.rooms.size)
  }
}

async function followHeads(core: Core, since: number): Promise<void> {
  const heads = await core.store.headsMovedSince(since)
  await Promise.all(
    heads.map(async (head) => {
      const room = core.rooms.get(head.room)
      if (!room?.isOpen) return
      if (head.seq > room.view.seq) await heal(core, room, 'poll')
      room.raised = Math.max(room.raised, head.seq)
      learnApplied(room, head.applied)
    }),
  )
}

/** A row whose head was never raised is found by asking the log itself. */
async function compare(core: Core): Promise<void> {
  const open = [...core.rooms.values()].filter((room) => room.isOpen)
  for (let start = 0; start < open.length; start += ROOMS_A_QUERY) {
    const positions = open.slice(start, start + ROOMS_A_QUERY).map(({ key, view }) => ({ room: key, seq: view.seq }))
    const advanced = await core.store.advanced(positions)
    await Promise.all(advanced.map((key) => refreshed(core, core.rooms.get(key))))
  }
}

async function refreshed(core: Core, room: Room | undefined): Promise<void> {
  if (!room?.isOpen) return
  await heal(core, room, 'comparison')
  await core.raise(room)
}
