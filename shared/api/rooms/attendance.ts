import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, count, Link, line, pageSize } from '#shared/kit/primitives'
import { Room } from './room.ts'
import { AttendanceId } from './rooms-paths.ts'

export const AttendanceEvent = z.object({
  eventId: z.number().int(),
  eventName: z.string(),
  imageUrl: Link.nullable(),
})
export type AttendanceEvent = z.infer<typeof AttendanceEvent>

export const AttendanceCollection = z.object({
  id: z.number().int(),
  title: z.string(),
  description: z.string().nullable(),
  logoImageUrl: Link.nullable(),
  bannerImageUrl: Link.nullable(),
  dropsCount: z.number().int(),
  year: z.number().int().nullable(),
})
export type AttendanceCollection = z.infer<typeof AttendanceCollection>

/** Why nothing is listed: no provider is configured, or it gave no answer. */
export const lookupErrors = ['integration not configured', 'Failed to fetch'] as const
export type LookupError = (typeof lookupErrors)[number]
const error = z.enum(lookupErrors).optional()

const noAddress = 'address query parameter is required'
const mostAddresses = 10
/** One address, or several with commas between them. */
const addressed = {
  address: Address.optional(),
  addresses: z.string().max(2_000).optional(),
  /** The account of `is_member`, which can only be the caller's. */
  memberAddress: Address.optional(),
}
type Addressed = { address?: string | undefined; addresses?: string | undefined }

const Addresses = z
  .array(Address)
  .min(1, { error: 'addresses: none is given' })
  .transform((all) => [...new Set(all)])
  .pipe(z.array(z.string()).max(mostAddresses, { error: `addresses: at most ${mostAddresses}` }))

/** The addresses that are asked for, each once. */
export const addressesOf = ({ address, addresses }: Addressed): string[] =>
  address === undefined ? Addresses.parse(split(addresses)) : [address]

const split = (addresses = '') =>
  addresses
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)

function judgeAddresses({ value, issues }: z.core.ParsePayload<Addressed>): void {
  const fault = faultOf(value)
  if (fault !== null) issues.push({ code: 'custom', message: fault, input: value, path: [] })
}

function faultOf({ address, addresses }: Addressed): string | null {
  if (address !== undefined && addresses !== undefined) return 'Give address or addresses, not both of them'
  if (address !== undefined) return null
  if (addresses === undefined) return noAddress
  const { error: fault } = Addresses.safeParse(split(addresses))
  return fault ? (fault.issues[0]?.message ?? 'Invalid addresses') : null
}

const reading = { access: 'public', limit: 'general', cost: 'cheap', errorBody: 'text' } as const

const Sought = z
  .object({
    attendanceEventId: AttendanceId.optional(),
    attendanceCollectionId: AttendanceId.optional(),
    userAddress: CallerAddress,
  })
  .refine(({ attendanceEventId, attendanceCollectionId }) => !attendanceEventId !== !attendanceCollectionId, {
    error: 'Give attendanceEventId or attendanceCollectionId, one of them',
  })
/** The same, in other words. */
const SoughtByPoap = z
  .object({
    poapEventId: AttendanceId.optional(),
    poapCollectionId: AttendanceId.optional(),
    userAddress: CallerAddress,
  })
  .transform(
    ({ poapEventId, poapCollectionId, userAddress }): z.input<typeof Sought> => ({
      attendanceEventId: poapEventId,
      attendanceCollectionId: poapCollectionId,
      userAddress,
    }),
  )
  .pipe(Sought)

/** Tokens of attendance: events, collections of events, and the channels that belong to them (document 3). */
export const attendance = {
  scan: operation({
    ...reading,
    summary:
      'The events that an address, or the one of a name such as `name.eth`, holds a token of, by name. Where the provider gives no answer: none, and why.',
    http: 'GET /api/attendance/scan',
    aliases: [{ http: 'GET /api/poap/scan' }],
    socket: '/rooms attendance:scan',
    input: z.object({ address: z.string(noAddress).min(1, noAddress).pipe(Address) }),
    output: z.object({ events: z.array(AttendanceEvent), error }),
  }),
  eventsWithChannels: operation({
    ...reading,
    summary: 'The events of one address or of several, each with its active channel. `is_member` is about the caller.',
    http: 'GET /api/attendance/events-with-channels',
    aliases: [{ http: 'GET /api/poap/events-with-channels' }],
    socket: '/rooms attendance:events',
    input: z.object(addressed).check(judgeAddresses),
    output: z.object({ events: z.array(AttendanceEvent.extend({ channel: Room.nullable() })), error }),
  }),
  collections: operation({
    ...reading,
    summary:
      'Collections of events, newest first, or those that words match. `nextCursor` is the offset of the next page.',
    http: 'GET /api/attendance/collections',
    aliases: [{ http: 'GET /api/poap/collections' }],
    socket: '/rooms attendance:collections',
    input: z.object({
      offset: count(0, 100_000).default(0),
      limit: pageSize(100, 20),
      query: line(0, 100).optional(),
    }),
    output: z.object({ collections: z.array(AttendanceCollection), nextCursor: z.string().nullable(), error }),
  }),
  collection: operation({
    ...reading,
    summary: 'One collection with the ids of its events. Where the provider gives no answer: only why.',
    http: 'GET /api/attendance/collections/:id',
    aliases: [{ http: 'GET /api/poap/collections/:id' }],
    socket: '/rooms attendance:collection',
    input: z.object({
      id: z
        .string()
        .regex(/^\d{1,10}$/, { error: 'Invalid id' })
        .transform(Number)
        .pipe(AttendanceId),
    }),
    output: AttendanceCollection.extend({ dropIds: z.array(z.number().int()) })
      .partial()
      .extend({ error }),
    errors: ['NOT_FOUND'],
  }),
  collectionsForUser: operation({
    ...reading,
    summary: 'The collections that these addresses hold at least one token of, each with its active channel.',
    http: 'GET /api/attendance/collections-for-user',
    aliases: [{ http: 'GET /api/poap/collections-for-user' }],
    socket: '/rooms attendance:own-collections',
    input: z.object(addressed).check(judgeAddresses),
    output: z.object({
      collections: z.array(AttendanceCollection.extend({ canJoin: z.literal(true), channel: Room.nullable() })),
      error,
    }),
  }),
  channel: operation({
    ...reading,
    summary: 'The active channel of an event or of a collection; null where there is none.',
    http: 'GET /api/attendance/channel',
    aliases: [
      { http: 'GET /api/channels?attendanceEventId' },
      { http: 'GET /api/channels?attendanceCollectionId' },
      { http: 'GET /api/channels?poapEventId', input: SoughtByPoap },
      { http: 'GET /api/channels?poapCollectionId', input: SoughtByPoap },
    ],
    socket: '/rooms attendance:channel',
    input: Sought,
    output: z.object({ channel: Room.nullable() }),
  }),
}
