import { isDeepStrictEqual } from 'node:util'
import type { Entry, Row } from '#server/log/types'
import type { RoomEventType } from '#shared/api/rooms/room-events'
import * as blocks from './moderation/blocks/events.ts'
import * as moderation from './moderation/moderation/events.ts'
import * as accounts from './people/accounts/events.ts'
import * as friends from './people/friends/events.ts'
import { type EventRecord, Signature } from './rooms/events/define.ts'
import type { MessageFact } from './rooms/events/message.ts'
import * as epochs from './rooms/room-state/events/epochs.ts'
import * as messages from './rooms/room-state/events/messages.ts'
import * as people from './rooms/room-state/events/people.ts'
import * as polls from './rooms/room-state/events/polls.ts'
import * as rooms from './rooms/room-state/events/rooms.ts'

const ofRooms = { ...epochs, ...messages, ...people, ...polls, ...rooms }
const ofEverything = { ...accounts, ...blocks, ...friends, ...moderation }
const defined = { ...ofRooms, ...ofEverything }
type Defined = { [Name in keyof typeof defined as (typeof defined)[Name]['type']]: (typeof defined)[Name] }

/** The record of every event. It does not compile where a declared event has none. */
const records: Readonly<Record<string, EventRecord>> = Object.fromEntries(
  Object.values(defined).map((record) => [record.type, record]),
) as unknown as Defined satisfies { [Type in RoomEventType]: EventRecord<Type> }

/** The record of an event type; null for types of a newer server, and for filler rows. */
export const recordOf = (type: string): EventRecord | null =>
  Object.hasOwn(records, type) ? (records[type] ?? null) : null

/** Throws where an entry is not what its record declares, to the last field. */
export function checkEntry({ type, body }: Entry): void {
  const record = recordOf(type)
  if (!record) throw new TypeError(`No event is declared as ${type}`)
  const { actor, target_name, ...own } = body
  if (actor !== undefined || !record.isUnsigned?.(signed({ body }))) Signature.parse({ actor, target_name })
  if (!isDeepStrictEqual(record.body.parse(own), own)) throw new TypeError(`More is stored of ${type} than is declared`)
}

/** A row's body as its own record reads it. */
export const signed = ({ body }: Pick<Row, 'body'>): Signature => body as unknown as Signature

/** The message that a row carries, as it was then; null where it carries none. */
export const messageOfEvent = (row: Row): MessageFact | null => recordOf(row.type)?.message?.(row, signed(row)) ?? null

/** Whom a row takes out of its room. */
export const removedBy = (row: Row): string | null => recordOf(row.type)?.removes?.(row, row.body) ?? null
