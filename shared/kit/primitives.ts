import { z } from 'zod'
import { canonicalAddress } from './accounts.ts'
import { isSingle, roomTypes } from './room-kinds.ts'

export { canonicalAddress } from './accounts.ts'
export { dmOf, roomKey, roomOfKey } from './room-key.ts'

const controls = /[^\P{Cc}\t\n\r]/u

const wellFormed = (value: string) => value.isWellFormed() && !controls.test(value)

const tooLong = (max: number) => `Too long: at most ${max} characters`

/** Free text, kept as written. `max` counts code points. */
export const text = (max: number, says?: string) =>
  z
    .string(says)
    .max(max * 2, tooLong(max))
    .refine((value) => value.length <= max || [...value].length <= max, { error: tooLong(max) })
    .refine(wellFormed, { error: 'Invalid characters' })

// Fillers and the blank braille cell are letters and signs that show nothing.
const unseen = /[\p{Default_Ignorable_Code_Point}\u2800]+/gu
/** Does a reader see anything of it? */
export const isVisible = (value: string) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(value.replace(unseen, ''))

const overriding = /[\u2028-\u202e\u2066-\u2069]/

/**
 * One line of free text, trimmed. Line breaks and direction overrides are refused, and so are texts without a visible character,
 * unless empty.
 */
export const line = (min: number, max: number, says?: string) =>
  z
    .string(says)
    .trim()
    .min(min, says)
    .max(max, tooLong(max))
    .refine((value) => value === '' || isVisible(value), { error: says ?? 'Nothing of it can be seen' })
    .refine((value) => wellFormed(value) && !/[\n\r\t]/.test(value) && !overriding.test(value), {
      error: 'Invalid characters',
    })

const turning = /[\u061c\u200e\u200f]/

/** A line that names somebody or something: without any sign of direction. Where others see it, the server judges what it claims. */
export const nameLine = (min: number, max: number, says?: string) =>
  line(min, max, says).refine((value) => !turning.test(value), { error: 'Invalid characters' })

const orEmpty = <Schema extends z.ZodType>(schema: Schema) => schema.or(z.literal(''))

/** An optional field as forms send it: null and an empty text count as left out. */
export const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  orEmpty(schema)
    .nullish()
    .transform((given) => (given === null || given === '' ? undefined : (given as z.output<Schema> | undefined)))
    .optional()

/** A field that null clears, and so does a text with nothing in it, as forms send it. */
export const clearable = <Schema extends z.ZodType>(schema: Schema) =>
  orEmpty(schema)
    .nullable()
    .transform((given) => (given === '' ? null : (given as z.output<Schema> | null)))

const accountId = /^(0[xX][0-9a-fA-F]{40}|(?!0[xX])[A-Za-z0-9][A-Za-z0-9:_.-]{0,127})$/
const walletAddress = /^0[xX][0-9a-fA-F]{40}$/

const oneEmoji = /^\p{RGI_Emoji}$/v
/** Clients leave out the sign that asks for its picture. */
const isEmoji = (value: string) => oneEmoji.test(value) || oneEmoji.test(`${value}\ufe0f`)
export const OneEmoji = z.string().trim().max(64).refine(isEmoji, { error: 'One emoji' })
/** Signs that mark somebody verified elsewhere. */
export const badges = /[\u2705\u2713\u2714\u2611\u{1f5f8}\u{1f5f9}\u{1fbb1}]/u
/** An emoji beside the name of a room or an agent. */
export const EmojiOfName = OneEmoji.refine((value) => !badges.test(value), {
  error: 'One emoji, but no sign that passes for a badge',
})

/** An account id: a wallet address (`0x` in any case), or an id of another sign-in method. */
export const Address = written(accountId)

/** An address on a chain of Ethereum's kind. */
export const WalletAddress = written(walletAddress)

/** Where payments go: whatever is sent to the address of zeros is lost. */
export const PayeeAddress = WalletAddress.refine((value) => !/^0x0*$/.test(value), { error: 'Invalid address' })

/** A string that is read in one way of writing it; the pattern is of what is written. */
export function written(pattern: RegExp, says = 'Invalid address') {
  return z.string().max(160).overwrite(canonicalAddress).regex(pattern, { error: says })
}

/** An address of the caller, which may be left out; the kernel refuses one that is not the session's. */
export const CallerAddress = maybe(Address).meta({ 'names-caller': true })

/** An id this server made. */
export const Id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'Invalid id' })

/** A key the client made so that a repeat is recognised. */
export const ClientId = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, { error: 'Invalid client id' })

/** The key of a call that creates or charges, so that it happens once. Over REST the header `Idempotency-Key` may have it. */
export const repeatable = { idempotency_key: ClientId.optional() }
export const onceByKey = { key: 'idempotency_key', kept: 'answer' } as const

/** ISO 8601, UTC. */
export const Timestamp = z.iso.datetime()

/** What answers say of these kinds: named in the documents, and not judged on its way out. */
const told = (format: string) => z.string().meta({ format })
export const Time = told('date-time')
export const Link = told('uri')
export const Mail = told('email')

/** A time in a query: ISO 8601, any offset. */
export const Moment = z.iso.datetime({ offset: true })

export const count = (min: number, max: number) => z.number().int().min(min).max(max)

/** A whole number; one that is out of the range becomes the nearest within it. */
export const clamped = (min: number, max: number) =>
  z
    .number()
    .int()
    .overwrite((given) => Math.min(Math.max(given, min), max))

/** The rows of a page. Higher numbers count as the most. */
export const atMost = (most: number) =>
  z
    .number()
    .int()
    .min(1)
    .overwrite((wanted) => Math.min(wanted, most))
    .meta({ description: `At most ${most}: more is taken as ${most}.` })

/** The same, and how many where nobody says. */
export const pageSize = (most: number, usual = most) => atMost(most).default(usual)

/** The cursor of the next page, from the last one. It is valid for the same list and caller alone, else 400. */
export const Cursor = z.string().max(1_000)
/** Of an input: the page after the one whose `next_cursor` this is. */
export const afterCursor = { cursor: Cursor.optional() }
/** Beside the items of a page: where the next one goes on; null at the end. */
export const nextCursor = { next_cursor: z.string().nullable() }

export const RoomType = z.enum(roomTypes)
export type RoomType = z.infer<typeof RoomType>

/** The id of a room of any type. For a dm it is both account ids, sorted and joined by `~`. */
export const AnyRoomId = z
  .string()
  .max(330)
  .regex(/^[A-Za-z0-9:_.~-]+$/, { error: 'Invalid room id' })

/** A room: its type and id; alpha has none. */
export const RoomRef = z
  .strictObject({ type: RoomType, id: AnyRoomId.nullish() })
  .refine((room) => isSingle(room.type) === (room.id === null || room.id === undefined), {
    error: 'Invalid room: alpha has no id, every other room has one',
  })
  .transform((room) => ({ type: room.type, id: room.id ?? null }))
export type RoomRef = z.infer<typeof RoomRef>

export const Done = z.object({ success: z.literal(true) })
export const done = { success: true } as const
