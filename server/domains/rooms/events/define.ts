import { z } from 'zod'
import type { Change, Entry, Fact, Json, Row } from '#server/log/types'
import type { LogAction } from '#shared/api/moderation/moderation-records'
import type { RoomEventData, RoomEventType } from '#shared/api/rooms/room-events'
import type { RoomRef } from '#shared/kit/primitives'
import { MessageBody, type MessageFact, type PollFact } from './message.ts'

/** The fields that every body has: the actor, and names at that time. */
export const Signature = z.object({ actor: MessageBody.shape.actor, target_name: z.string().nullable().optional() })
export type Signature = z.infer<typeof Signature>

/** The change of an event in earlier messages. */
export interface Rewrite {
  covers(message: Row): boolean
  next(body: MessageBody): MessageBody
  /** If it deletes them, the texts of their edits and polls are removed too. */
  takesBack?: { edit(row: Row): boolean; poll(poll: PollFact): boolean }
}

/** The kinds of acts on a person in a room, which notify them. */
export type TargetNotice = 'banned' | 'unbanned' | 'muted' | 'unmuted' | 'warned' | 'removed'

/**
 * The meaning of a log event on the server, in one place. `body` is stored beside the signature. All functions are
 * pure.
 */
export interface EventRecord<Type extends RoomEventType = RoomEventType, Body = unknown> {
  readonly type: Type
  readonly body: z.ZodType<Body>
  /** The facts of the row. They must not depend on content that later events rewrite. */
  changes?(row: Row, body: Body & Signature): readonly Change[]
  /** The data of the event at every door. */
  data(row: Row, body: Body & Signature, room: RoomRef): RoomEventData<Type>
  /** Fields that outsiders see instead. They learn of a moderation act, but not its actor, target, end or reason. */
  readonly hidden?: Partial<RoomEventData<Type>>
  /** The change in earlier messages; null if there is none. */
  rewrites?(row: Row, body: Body & Signature): Rewrite | null
  /** The message in the event, as it was then; null if there is none. */
  message?(row: Row, body: Body & Signature): MessageFact | null
  /** An entry of the moderation chain: its name, and its data besides the room. */
  readonly entry?: {
    action(body: Body): LogAction
    metadata?(row: Row, body: Body & Signature): Record<string, unknown>
  }
  /** It may remove people or apply in all rooms, so its answer waits for every node. */
  readonly holdsEverywhere?: boolean
  /** The account that it admits or removes. */
  admits?(row: Row): string | null
  removes?(row: Row, body: Body): string | null
  /** Whose rights or permission to send it changes. */
  readonly changesRights?: 'of everybody' | 'of the target'
  /** It changes unread counts and mentions. */
  readonly recounts?: true
  /** The notification of its target. */
  notice?(body: Body): TargetNotice | null
  /** The actor is not stored. */
  isUnsigned?(body: Body): boolean
}

/** Defines the meaning of a log event. */
export const defineEvent = <Type extends RoomEventType, Body>(
  type: Type,
  record: Omit<EventRecord<Type, Body>, 'type'>,
): EventRecord<Type, Body> => ({ type, ...record })

/** An unsigned event as a log entry. */
export const unsignedEntry = <Body>(
  { type }: Pick<EventRecord<RoomEventType, Body>, 'type' | 'body'>,
  body: NoInfer<Body>,
  about: Pick<Entry, 'target' | 'reason'> = {},
): Entry => ({ type, body: body as unknown as Entry['body'], ...about })

/** Is this row an event of that record? */
export const isRowOf = (row: Row | null, { type }: EventRecord): boolean => row?.type === type

/** The body of a row of this record. */
export function bodyOf<Type extends RoomEventType, Body>(
  row: Row,
  { type }: EventRecord<Type, Body>,
): Body & Signature {
  if (row.type !== type) throw new Error(`A row of ${row.type} is not one of ${type}`)
  return row.body as unknown as Body & Signature
}

/** The place holder of a hidden person. */
export const unnamedPerson = { id: '', name: '' }

/** The target, under their name at that time. */
export const targetOf = (row: Row, { target_name }: Signature) => ({
  id: row.target ?? '',
  name: String(target_name ?? row.target ?? ''),
})

/** Fields with arbitrary names. */
export const jsonFields = z.record(z.string(), z.json()) as z.ZodType<{ [name: string]: Json }>

export const setFact = (key: string, value: unknown): Change => ({ key, value: value as Fact })

export const patchFact = <T>(key: string, next: (before: T) => T): Change => ({
  key,
  patch: (before) => (before === null ? null : (next(before as T) as Fact)),
})

export const patchList = <T>(key: string, next: (before: T[]) => T[]): Change => ({
  key,
  patch: (before) => next((before ?? []) as T[]) as Fact,
})
