import type { Core, Room } from './core.ts'
import { leaseMilliseconds, longestInsertMilliseconds } from './limits.ts'
import { GLOBAL, type RoomKey, type Row } from './types.ts'

/** A lease of this age belongs to a dead node, even if clocks differ. */
const forgottenMilliseconds = 60_000
const confirmationMilliseconds = 1_000
const lookAgainMilliseconds = 20

/** Confirms delivered rows; at once if an answer on another node waits for it. */
export function confirmRows(core: Core, room: Room, rows: readonly Row[]): void {
  if (core.store.alone) return
  const { seq } = room.view
  const isAwaited = rows.some((row) => core.projection.holdsEverywhere(row.type))
  const isUndecided = room.key === GLOBAL && core.policy.isHeldUp(core.inFlight.size)
  if (!isUndecided) confirmUpTo(core, room, seq, isAwaited)
  else void Promise.allSettled(core.inFlight).then(() => confirmUpTo(core, room, seq, isAwaited))
}

function confirmUpTo(core: Core, room: Room, seq: number, isAwaited: boolean): void {
  room.confirmed.raise(seq)
  for (const wake of room.onConfirmed) wake()
  if (!isAwaited) return
  core.hints.publish({ kind: 'confirmed', node: core.node, room: room.key, seq: room.confirmed.at })
  core.lease([room.key]).catch(() => {})
}

/** Waits until each live node has confirmed the row, for a limited time; returns the number of pending nodes. */
export async function awaitConfirmations(core: Core, room: Room, seq: number): Promise<number> {
  if (core.store.alone) return 0
  const end = core.clock.elapsed() + confirmationMilliseconds * core.policy.deadlineFactor
  return core.policy.everyNode(async () => {
    for (;;) {
      const pending = await pendingNodes(core, room, seq)
      if (pending === 0 || core.clock.elapsed() >= end) return pending
      await anyConfirmation(core, room)
    }
  })
}

async function pendingNodes(core: Core, room: Room, seq: number): Promise<number> {
  const own = room.confirmed.at < seq ? 1 : 0
  try {
    const leases = await leasesSeen(core, room.key)
    const others = leases.filter(
      ({ node, confirmed }) =>
        node !== core.node &&
        mayStillWrite(core, node) &&
        Math.max(confirmed, room.confirmedBy.get(node)?.at ?? 0) < seq,
    )
    return own + others.length
  } catch {
    return own + 1
  }
}

/** Reads the beats of other nodes before an act needs them; true if a node has just fallen silent. */
export async function observePeers(core: Core): Promise<boolean> {
  await leasesSeen(core, GLOBAL)
  let isNew = false
  for (const [node, peer] of core.peers) {
    const silence = core.clock.elapsed() - peer.seenAt
    if (silence > 2 * forgottenMilliseconds) core.peers.delete(node)
    isNew ||= silence > leaseMilliseconds && !peer.isSilent
    peer.isSilent = silence > leaseMilliseconds
  }
  return isNew
}

async function leasesSeen({ store, clock, peers }: Core, room: RoomKey) {
  const leases = await store.leasesOf(room, clock.now() - forgottenMilliseconds)
  for (const { node, beat } of leases)
    if (beat > (peers.get(node)?.beat ?? Number.NEGATIVE_INFINITY))
      peers.set(node, { beat, seenAt: clock.elapsed(), isSilent: false })
  return leases
}

/**
 * May an insert of this node still commit? Its beat's age is measured on our monotonic clock: clocks of other nodes may
 * step. A node that left has no insert in progress.
 */
function mayStillWrite({ peers, clock }: Core, node: string): boolean {
  const silence = clock.elapsed() - (peers.get(node)?.seenAt ?? clock.elapsed())
  return silence < leaseMilliseconds + longestInsertMilliseconds
}

/** Has another node sent a beat recently? */
export function hasPeers({ peers, clock, node }: Core): boolean {
  for (const [name, { seenAt }] of peers)
    if (name !== node && clock.elapsed() - seenAt < leaseMilliseconds + longestInsertMilliseconds) return true
  return false
}

function anyConfirmation({ clock }: Core, room: Room): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      room.onConfirmed.delete(wake)
      resolve()
    }
    room.onConfirmed.add(wake)
    void clock.sleep(lookAgainMilliseconds).then(wake)
  })
}

/** A node without a live lease may not act: the others no longer wait for it. */
export function mayAct(core: Core): boolean {
  return core.store.alone || core.policy.mayAct(core.clock.elapsed() - core.leasedAt.at < leaseMilliseconds - 1_000)
}

/** Might an act wait for this room? A room without rows that was only asked about needs no lease. */
export const needsLease = ({ key, view, holds }: Room): boolean => key === GLOBAL || view.seq > 0 || holds > 0

/** Renews all leases, then reads `global`. Rows acknowledged without this node are thus applied before it acts. */
export async function renewLeases(core: Core): Promise<void> {
  const at = core.clock.elapsed()
  await core.lease([...core.rooms.values()].filter(needsLease).map(({ key }) => key))
  await core.rooms.get(GLOBAL)?.refresh()
  if (!mayAct(core)) core.leaseTerm++
  core.leasedAt.raise(at)
}
