import type { z } from 'zod'
import type { Verdict } from '#shared/api/moderation/verdict'
import { idIn, roomKey } from '#shared/kit/room-key'
import type { draft, LeanMessage, LeanSent, Message, Sent } from './message.ts'
import type { LeanPerson, Person } from './room.ts'
import type { LeanBatch, LeanEvent, LeanEventIn, RoomEvent, roomEventBatch } from './room-events.ts'

/** The context of a message. */
type Place = Pick<RoomEvent, 'room' | 'seq' | 'at' | 'actor'>

/** What a message is always said to be. */
type AlwaysSaid = 'id' | 'n' | 'client_msg_id' | 'content'
type Usual = { [Field in Exclude<keyof Message, AlwaysSaid>]: Message[Field] }

/**
 * The values of a message that protocol 2 leaves out. A new field of `Message` is added here. Another value for an existing field
 * needs another protocol.
 */
const usualIn = ({ room, seq, at, actor }: Place, { reply_to }: Partial<Message>): Usual => ({
  room,
  channel_id: idIn('channel_id', room),
  seq,
  version: 1,
  sender_address: actor.id,
  sender: actor,
  message_type: 'text',
  attachments: [],
  mentions: [],
  created_at: at,
  reply_to_id: reply_to?.id ?? null,
  reply_to: null,
  reactions: {},
  poll_id: null,
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
  is_edited: false,
  edited_at: null,
  is_deleted: false,
  deleted_by: null,
  deleted_at: null,
  delete_reason: null,
})

function leanMessage(message: Message, usual: { readonly [field: string]: unknown }): LeanMessage {
  const lean: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(message)) if (!isSame(value, usual[field])) lean[field] = value
  return lean
}

const nobody: Person = { id: '', name: '', role: null, isAgent: false }

function leanPerson({ role, isAgent, ...person }: Person): LeanPerson {
  return { ...person, ...(role === 'member' ? {} : { role }), ...(isAgent ? { isAgent } : {}) }
}

const wholePerson = (lean: LeanPerson = nobody): Person => ({ role: 'member', isAgent: false, ...lean }) as Person
const leanActor = (actor: Person) => (isSame(actor, nobody) ? {} : { actor: leanPerson(actor) })

/** Milliseconds, where they say all. */
function leanTime(time: string): number | string {
  const at = Date.parse(time)
  return Number.isNaN(at) || new Date(at).toISOString() !== time ? time : at
}
const wholeTime = (time: number | string): string => (typeof time === 'number' ? new Date(time).toISOString() : time)

const usualType = 'message.created'
/** Events with a message in `data`. */
const carriers: readonly string[] = [usualType, 'message.edited']

/** An event in protocol 2. `saysEpoch`: the receiver does not know the room's current log. */
export const leanEvent = (event: RoomEvent, saysEpoch: boolean): LeanEvent => ({
  room: roomKey(event.room),
  ...leanEventIn(event, saysEpoch),
})

function leanEventIn({ room, epoch, at, type, actor, data, ...rest }: RoomEvent, saysEpoch: boolean): LeanEventIn {
  const place = { room, at, actor, ...rest }
  const { message } = data as { message: Message }
  const isCarrier = carriers.includes(type)
  const fields = isCarrier ? { ...data, message: leanMessage(message, usualIn(place, message)) } : data
  return {
    ...(saysEpoch ? { epoch } : {}),
    ...rest,
    at: leanTime(at),
    ...(type === usualType ? {} : { type }),
    ...leanActor(actor),
    ...(Object.keys(fields).length === 0 ? {} : { data: fields }),
  }
}

/** The full event; `epoch` is the last one sent, for events without their own. */
export function wholeEvent(lean: LeanEvent, epoch: string): RoomEvent {
  const { room: key, at: time, type = usualType, actor: person, data: fields = {}, ...rest } = lean
  const place = { room: roomOf(key), seq: lean.seq, at: wholeTime(time), actor: wholePerson(person) }
  const { message = {} } = fields
  const data = carriers.includes(type)
    ? { ...fields, message: { ...usualIn(place, message as Message), ...message } }
    : fields
  return { epoch, ...rest, ...place, type, data } as unknown as RoomEvent
}

type Batch = z.infer<(typeof roomEventBatch)['payload']>

/** Several events of one room; `saysEpoch` is asked of each in turn. */
export const leanBatch = ({ room, events }: Batch, saysEpoch: (event: RoomEvent) => boolean): LeanBatch => ({
  room: roomKey(room),
  events: events.map((event) => leanEventIn(event, saysEpoch(event))),
})

export function wholeBatch({ room, events }: LeanBatch, epoch: string): Batch {
  let told = epoch
  const whole = events.map((event) => {
    told = event.epoch ?? told
    return wholeEvent({ room, ...event }, told)
  })
  return { room: roomOf(room), events: whole }
}

/** The inverse of `roomKey`, also of kinds that are not known here. */
function roomOf(key: string): RoomEvent['room'] {
  const colon = key.indexOf(':')
  const [type, id] = colon < 0 ? [key, null] : [key.slice(0, colon), key.slice(colon + 1)]
  return { type: type as RoomEvent['room']['type'], id }
}

/** What a sender has sent, in any spelling of it. */
type Drafted = z.input<z.ZodObject<typeof draft>> & {
  room: { type: RoomEvent['room']['type']; id?: string | null | undefined }
  client_msg_id?: string | undefined
}

/** What its sender takes a message to be; what they have not sent is said. */
export const usualTo = (drafted: Drafted, place: Place, said: Partial<Message>) => ({
  ...usualIn(place, said),
  client_msg_id: drafted.client_msg_id,
  content: (drafted.text ?? drafted.content)?.trim(),
  message_type: (drafted.type ?? drafted.messageType ?? drafted.message_type ?? 'text') as Message['message_type'],
  attachments: drafted.attachments ?? [],
  mentions: drafted.mentions ?? [],
})

const usualVerdict = (seq: number): Verdict => ({
  ok: true,
  step: null,
  code: null,
  status: 200,
  text: null,
  rule: null,
  until: null,
  judged_seq: seq - 1,
})

const placeOf = ({ room }: Drafted, seq: number, at: string, actor: Person): Place => ({
  room: { type: room.type, id: room.id ?? null },
  seq,
  at,
  actor,
})

/** The answer to a send without values that its sender knows: the sent fields, and the usual verdict. */
export function leanSent({ message, verdict, next_send_at, ...rest }: Sent, drafted: Drafted): LeanSent {
  const { seq, created_at: at, sender: actor } = message
  return {
    seq,
    at: leanTime(at),
    ...leanActor(actor),
    message: leanMessage(message, usualTo(drafted, placeOf(drafted, seq, at, actor), message)),
    ...(isSame(verdict, usualVerdict(seq)) ? {} : { verdict }),
    ...rest,
    ...(next_send_at === null ? {} : { next_send_at }),
  }
}

export function wholeSent(lean: LeanSent, drafted: Drafted): Sent {
  const { seq, at, actor, message, verdict = usualVerdict(seq), next_send_at = null, ...rest } = lean
  const place = placeOf(drafted, seq, wholeTime(at), wholePerson(actor))
  const whole = { ...usualTo(drafted, place, message as Message), ...message } as Message
  return { message: whole, verdict, ...rest, next_send_at }
}

/** Whether two values of JSON are the same; a field that is undefined is one that is not there. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const fields = Object.keys(one)
  return (
    fields.length === Object.keys(other).length &&
    fields.every(
      (field) =>
        Object.hasOwn(other, field) && isSame(one[field as keyof typeof one], other[field as keyof typeof other]),
    )
  )
}
