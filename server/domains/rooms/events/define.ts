import { z } from 'zod'
import type { Change, Entry, Row } from '#server/log/types'
import type { LogAction } from '#shared/api/moderation-records'
import type { RoomEventData, RoomEventType } from '#shared/api/room-events'
import type { RoomRef } from '#shared/kit/primitives'
import { MessageBody, type MessageFact, type PollFact } from './message.ts'

/** What every body carries beside its own fields: who acted, as they were called then. */
export const Signature = z.object({ actor: MessageBody.shape.actor, target_name: z.string().nullable().optional() })
export type Signature = z.infer<typeof Signature>

/** How an event changes messages before it. */
export interface Rewrite {
  covers(message: Row): boolean
  next(body: MessageBody): MessageBody
  /** If it deletes them, the texts of their edits and polls are removed too. */
  takesBack?: { edit(row: Row): boolean; poll(poll: PollFact): boolean }
}

/** What somebody hears of an act on them in a room. */
export type Heard = 'banned' | 'unbanned' | 'muted' | 'unmuted' | 'warned' | 'removed'

/**
 * What an event of the log means on the server, said once: everything that asks "does this take somebody out" asks the record.
 * `body` is what is stored beside the signature; all of it is pure.
 */
export interface EventRecord<Type extends RoomEventType = RoomEventType, Body = unknown> {
  readonly type: Type
  readonly body: z.ZodType<Body>
  /** The facts that follow. Must use nothing that a later event may rewrite in the row. */
  changes?(row: Row, body: Body & Signature): readonly Change[]
  /** What all doors tell. */
  data(row: Row, body: Body & Signature, room: RoomRef): RoomEventData<Type>
  /** Fields of `data` that outsiders see instead: they learn of an act of a moderator, but not by whom, on whom, until when or why. */
  readonly hidden?: Partial<RoomEventData<Type>>
  /** How it changes messages before it; null where this one changes none. */
  rewrites?(row: Row, body: Body & Signature): Rewrite | null
  /** The message that the event carries, as it was then; null where this one carries none. */
  message?(row: Row, body: Body & Signature): MessageFact | null
  /** An entry of the moderation chain: its name there, and what it says beside the place. */
  readonly entry?: {
    action(body: Body): LogAction
    metadata?(row: Row, body: Body & Signature): Record<string, unknown>
  }
  /** It may take people out of a room, or holds in all rooms, so its ack waits for every node. */
  readonly holdsEverywhere?: boolean
  /** Whom it lets into the room, and whom it takes out. */
  admits?(row: Row): string | null
  removes?(row: Row, body: Body): string | null
  /** Whose rights, or whose permission to send, it changes. */
  readonly changesRights?: 'of everybody' | 'of the target'
  /** It changes what people have left to read, and whom messages name. */
  readonly recounts?: true
  /** What its target is told. */
  heard?(body: Body): Heard | null
  /** The actor is not stored. */
  isUnsigned?(body: Body): boolean
}

/** Says what an event of the log means. */
export const defineEvent = <Type extends RoomEventType, Body>(
  type: Type,
  record: Omit<EventRecord<Type, Body>, 'type'>,
): EventRecord<Type, Body> => ({ type, ...record })

/** An event that nobody signs, as the log takes it. */
export const unsigned = <Body>(
  { type }: Pick<EventRecord<RoomEventType, Body>, 'type' | 'body'>,
  body: NoInfer<Body>,
  about: Pick<Entry, 'target' | 'reason'> = {},
): Entry => ({ type, body: body as unknown as Entry['body'], ...about })

/** Is this row an event of that record? */
export const isOf = (row: Row | null, { type }: EventRecord): boolean => row?.type === type

/** The body of a row of this record. */
export function bodyOf<Type extends RoomEventType, Body>(
  row: Row,
  { type }: EventRecord<Type, Body>,
): Body & Signature {
  if (row.type !== type) throw new Error(`A row of ${row.type} is not one of ${type}`)
  return row.body as unknown as Body & Signature
}

/** Nobody that is named. */
export const unnamed = { id: '', name: '' }

/** The person acted on, under the name they had then. */
export const targetOf = (row: Row, { target_name }: Signature) => ({
  id: row.target ?? '',
  name: String(target_name ?? row.target ?? ''),
})
