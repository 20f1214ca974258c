import type { LogRow, RoomState } from './history.ts'

/** The state of a room after one of its rows. */
export interface Folded {
  seq: number
  state: RoomState
  members: ReadonlySet<string>
  banned: ReadonlySet<string>
  muted: ReadonlySet<string>
  /** When each sender's last message was stored. */
  lastAt: ReadonlyMap<string, number>
}

export const empty: Folded = {
  seq: 0,
  state: { members: 0, rules: { version: 0, slow_mode_seconds: 0, read_only: false }, pins: [] },
  members: new Set(),
  banned: new Set(),
  muted: new Set(),
  lastAt: new Map(),
}

/** The state after one more row; the given state is not changed. */
export function fold(before: Folded, row: LogRow): Folded {
  const after = { ...before, seq: row.seq }
  const { effect } = row
  switch (effect.kind) {
    case 'message':
      return { ...after, lastAt: new Map(before.lastAt).set(row.sender, row.at) }
    case 'rules':
      return { ...after, state: { ...before.state, rules: effect.rules } }
    case 'pinned':
      return pinned(after, [effect.message, ...without(before.state.pins, effect.message)])
    case 'unpinned':
      return pinned(after, without(before.state.pins, effect.message))
    case 'joined':
      return counted({ ...after, members: plus(before.members, effect.who) }, effect.members)
    case 'left':
    case 'removed':
      return counted({ ...after, members: minus(before.members, effect.who) }, effect.members)
    case 'ban': {
      const members = minus(before.members, effect.who)
      return counted({ ...after, members, banned: plus(before.banned, effect.who) }, effect.members)
    }
    case 'unban':
      return { ...after, banned: minus(before.banned, effect.who) }
    case 'mute':
      return { ...after, muted: plus(before.muted, effect.who) }
    case 'unmute':
      return { ...after, muted: minus(before.muted, effect.who) }
    case 'other':
      return after
  }
}

const pinned = (folded: Folded, pins: readonly string[]): Folded => ({ ...folded, state: { ...folded.state, pins } })
const counted = (folded: Folded, members: number | null): Folded =>
  members === null ? folded : { ...folded, state: { ...folded.state, members } }
const without = (list: readonly string[], one: string) => list.filter((other) => other !== one)
const plus = (set: ReadonlySet<string>, one: string) => new Set(set).add(one)
const minus = (set: ReadonlySet<string>, one: string) => new Set([...set].filter((other) => other !== one))
