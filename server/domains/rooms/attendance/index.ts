import { Rooms } from '#server/domains/rooms/room-state/model'
import { rowsOf } from '#server/domains/rooms/room-state/rows'
import type { Actions, Caller, Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { AttendanceEvent as FoundEvent } from '#server/ports/attendance/port'
import {
  type AttendanceEvent,
  addressesOf,
  attendance as contract,
  type LookupError,
  lookupErrors,
} from '#shared/api/rooms/attendance'
import type { Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { type Lookups, lookupsOf } from './gate.ts'
import { attendanceSettings } from './settings.ts'

const [unconfigured, unanswered] = lookupErrors
const notConfiguredError = { error: unconfigured }
const notAnsweredError = { error: unanswered }

const attendanceLookupsOf = (node: Node): Lookups | null =>
  node.services.attendance && lookupsOf(node, node.services.attendance)

/** The provider's answer, or the error if there is none. */
async function answerOrError<Answer>(asked: Promise<Answer>): Promise<Answer | { error: LookupError }> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AppError && (error.code === 'UPSTREAM_ERROR' || error.code === 'TIMEOUT'))
      return notAnsweredError
    throw error
  }
}

/** Only wallet addresses and names can hold tokens; other accounts hold none. */
const isWallet = (address: string) => /^(0x[0-9a-f]{40}|([a-z0-9-]+\.)+[a-z]{2,})$/i.test(address)

/** The distinct events of these addresses, by name. Addresses without an answer set `error`; the others still count. */
async function eventsOf(
  node: Node,
  addresses: readonly string[],
): Promise<{ events: AttendanceEvent[]; error?: LookupError }> {
  const lookups = attendanceLookupsOf(node)
  if (!lookups) return { events: [], ...notConfiguredError }
  const answers = await Promise.all(
    addresses.filter(isWallet).map((address) => answerOrError(lookups.eventsOf(address))),
  )
  const events = new Map<number, AttendanceEvent>()
  for (const found of answers.flatMap((answer) => ('answer' in answer ? answer.answer : [])))
    if (!events.has(found.id)) events.set(found.id, eventOutput(found))
  const failed = answers.find((answer) => 'error' in answer)
  return { events: [...events.values()].sort(byName), ...(failed ? notAnsweredError : {}) }
}

const eventOutput = ({ id, name, imageUrl }: FoundEvent): AttendanceEvent => ({
  eventId: id,
  eventName: name ?? `Event #${id}`,
  imageUrl,
})

function byName(one: AttendanceEvent, other: AttendanceEvent): number {
  if (one.eventName === other.eventName) return one.eventId - other.eventId
  return one.eventName < other.eventName ? -1 : 1
}

/** The account whose memberships the caller may see: their own, or none for another person. */
const memberAccountOf = ({ account }: Caller, memberAddress: string | undefined): string | null =>
  memberAddress === undefined || isSameAccount(memberAddress, account) ? account : null

type Subject = 'event_id' | 'collection_id'

/** The active channels of these events or collections, as an account sees them. */
async function channelsOf(
  node: Node,
  subject: Subject,
  ids: readonly number[],
  account: string | null,
): Promise<ReadonlyMap<number, Room>> {
  if (ids.length === 0) return new Map()
  const found = await Rooms.find({ [`gate.${subject}`]: { $in: [...ids] }, is_active: true }).lean()
  const rows = await rowsOf(
    node,
    found.map(({ _id }) => _id),
    account,
  )
  const field = subject === 'event_id' ? 'attendance_event_id' : 'attendance_collection_id'
  return new Map(rows.map((row) => [row[field] ?? 0, row]))
}

const actions: Actions<typeof contract> = {
  scan: ({ address }, { node }) => eventsOf(node, [address]),

  async eventsWithChannels({ memberAddress, ...asked }, { node, caller }) {
    const { events, ...why } = await eventsOf(node, addressesOf(asked))
    const ids = events.map(({ eventId }) => eventId)
    const channels = await channelsOf(node, 'event_id', ids, memberAccountOf(caller, memberAddress))
    return { events: events.map((event) => ({ ...event, channel: channels.get(event.eventId) ?? null })), ...why }
  },

  async collections({ offset, limit, query = '' }, { node }) {
    const collections = attendanceLookupsOf(node)?.collections
    if (!collections) return { collections: [], nextCursor: null, ...notConfiguredError }
    const page = await answerOrError(collections.list({ offset, limit, search: query || null }))
    if ('error' in page) return { collections: [], nextCursor: null, ...page }
    return { collections: page.answer, nextCursor: page.answer.length < limit ? null : String(offset + limit) }
  },

  async collection({ id }, { node }) {
    const collections = attendanceLookupsOf(node)?.collections
    if (!collections) return notConfiguredError
    const found = await answerOrError(collections.get(id))
    if ('error' in found) return found
    if (!found.answer) throw new AppError('NOT_FOUND', { message: 'Collection not found' })
    return found.answer
  },

  async collectionsForUser({ memberAddress, ...asked }, { node, caller }) {
    const collections = attendanceLookupsOf(node)?.collections
    if (!collections) return { collections: [], ...notConfiguredError }
    const { events, ...why } = await eventsOf(node, addressesOf(asked))
    const found = await answerOrError(collections.having(events.map(({ eventId }) => eventId).sort((a, b) => a - b)))
    if ('error' in found) return { collections: [], ...found }
    const ids = found.answer.map(({ id }) => id)
    const channels = await channelsOf(node, 'collection_id', ids, memberAccountOf(caller, memberAddress))
    return {
      collections: found.answer.map((one) => ({ ...one, canJoin: true, channel: channels.get(one.id) ?? null })),
      ...why,
    }
  },

  async channel({ attendanceEventId, attendanceCollectionId }, { node, caller: { account } }) {
    const [subject, id] =
      attendanceEventId === undefined
        ? (['collection_id', attendanceCollectionId ?? 0] as const)
        : (['event_id', attendanceEventId] as const)
    return { channel: (await channelsOf(node, subject, [id], account)).get(id) ?? null }
  },
}

export const attendance = defineDomain(contract, actions, { settings: attendanceSettings })
