import { z } from 'zod'
import type { Finding } from './checker.ts'
import type { LogRow, RoomState } from './history.ts'
import { empty, fold } from './room-state.ts'
import type { Room } from './sender.ts'
import type { Documents } from './stored.ts'

/** The records of a room: as stored, and as they follow from the log. */
export interface RoomRecords {
  members: readonly string[]
  banned: readonly string[]
  muted: readonly string[]
  member_count: number
  rules: RoomState['rules']
  pins: readonly string[]
  /** Messages that are marked as pinned in their own records. */
  pinned: readonly string[]
}

const About = z.object({ user_address: z.string() })
const Fact = z.object({ _id: z.string(), value: z.unknown() })
const Counted = z.object({ member_count: z.number() })
const Pinned = z.object({ _id: z.string(), body: z.object({ pinned: z.unknown() }) })
const Pins = z.array(z.string())
const Rules = z.object({ version: z.number(), slow_mode_seconds: z.number(), read_only: z.boolean() })

export async function readRecords(store: Documents, { key: room }: Room): Promise<RoomRecords> {
  const read = (name: string, filter: object) => store.collection(name).find(filter).toArray()
  const people = async (name: string) =>
    (await read(name, { room, is_active: true })).map((record) => About.parse(record).user_address).sort()
  const facts = new Map(
    (await read('room_facts', { room })).map((record) => {
      const { _id, value } = Fact.parse(record)
      return [_id.slice(room.length + 1), value]
    }),
  )
  const [counted] = await read('rooms', { _id: room })
  const messages = (await read('room_events', { room, type: 'message.created' })).map((row) => Pinned.parse(row))
  return {
    members: await people('members'),
    banned: await people('bans'),
    muted: await people('moderation_mutes'),
    member_count: Counted.parse(counted).member_count,
    rules: Rules.parse(facts.get('rules') ?? empty.state.rules),
    pins: Pins.parse(facts.get('pins') ?? []),
    pinned: messages.flatMap(({ _id, body }) => (body.pinned === null ? [] : [_id])).sort(),
  }
}

/** The differences between the records of a room and its log. */
export function checkRecords(room: string, log: readonly LogRow[], records: RoomRecords): Finding[] {
  const { members, banned, muted, state } = log.reduce(fold, empty)
  const implied: RoomRecords = {
    members: [...members].sort(),
    banned: [...banned].sort(),
    muted: [...muted].sort(),
    member_count: state.members,
    rules: state.rules,
    pins: state.pins,
    pinned: [...state.pins].sort(),
  }
  return (Object.keys(implied) as (keyof RoomRecords)[]).flatMap((name) => {
    const [expected, found] = [JSON.stringify(implied[name]), JSON.stringify(records[name])]
    return expected === found ? [] : [{ fault: 'unrecorded', room, what: `${name}: ${found} instead of ${expected}` }]
  })
}
