import { defineGate } from '#server/domains/rooms/gates/define'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { rowsOf } from '#server/domains/rooms/room-state/rows'
import { walletsOf } from '#server/domains/rooms/tokens/gate'
import type { Actions, Caller, Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/operate/node-state'
import { type CachedAnswer, createAnswerCache } from '#server/kernel/store/kept-answers'
import type {
  Attendance,
  AttendanceCollection,
  AttendanceEvent as FoundEvent,
  WholeCollection,
} from '#server/ports/attendance/port'
import {
  type AttendanceEvent,
  addressesOf,
  attendance as contract,
  type LookupError,
  lookupErrors,
} from '#shared/api/rooms/attendance'
import type { AttendanceGate } from '#shared/api/rooms/gates'
import type { Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { attendanceSettings } from './settings.ts'

const cachedAnswers = nodeState(() => ({
  events: createAnswerCache<FoundEvent[]>({
    secondsOf: (events) => (events.length > 0 ? 300 : 30),
    weightOf: (events) => events.reduce((sum, event) => sum + 50 + lengthOf(event), 0),
    mostWeight: 20_000_000,
  }),
  held: createAnswerCache<boolean>({ secondsOf: (holds) => (holds ? 60 : 15), weightOf: () => 0, mostWeight: 50_000 }),
  lists: createAnswerCache<AttendanceCollection[]>({
    secondsOf: (list) => (list.length > 0 ? 300 : 30),
    weightOf: (list) => list.reduce((sum, collection) => sum + 200 + (collection.description?.length ?? 0), 0),
    mostWeight: 5_000_000,
  }),
  collections: createAnswerCache<WholeCollection | null>({
    secondsOf: (collection) => (collection ? 300 : 30),
    weightOf: (collection) => 200 + (collection?.dropIds.length ?? 0),
    mostWeight: 5_000_000,
  }),
}))

const lengthOf = ({ name, imageUrl }: FoundEvent) => (name?.length ?? 0) + (imageUrl?.length ?? 0)

/** A node's cache of the provider's answers by question; errors are thrown as the port does. */
export function lookupsOf(node: Node, attendance: Attendance) {
  const { events, held, lists, collections } = cachedAnswers(node)
  const { collections: compass } = attendance
  return {
    /** The events whose token an address holds; an answer may be five minutes old, or `atMostSeconds`. */
    eventsOf: (address: string, atMostSeconds?: number): Promise<CachedAnswer<FoundEvent[]>> =>
      events.of(lowerCased(address), () => attendance.eventsOf(lowerCased(address)), atMostSeconds),
    /** Does an address hold an event's token? A positive answer may be a minute old, a negative one 15 seconds. */
    holds: (address: string, eventId: number, atMostSeconds?: number): Promise<CachedAnswer<boolean>> =>
      held.of(`${lowerCased(address)} ${eventId}`, () => attendance.holds(lowerCased(address), eventId), atMostSeconds),
    /** Null if the provider has no collections. */
    collections: compass && {
      list: (page: { offset: number; limit: number; search: string | null }) =>
        lists.of(JSON.stringify(page), () => compass.list(page)),
      having: (eventIds: readonly number[]) => lists.of(eventIds.join(' '), () => compass.having(eventIds)),
      get: (id: number) => collections.of(String(id), () => compass.get(id)),
    },
  }
}
type Lookups = ReturnType<typeof lookupsOf>

/** Case does not matter in addresses, so it makes no second question. */
const lowerCased = (address: string) => address.toLowerCase()

/** The longest reuse of a negative answer, so that a new token's owner gets in soon. */
const noForSeconds = 15

export const attendanceGate = defineGate('attendance', {
  lasts: (node) => attendanceSettings.of(node).isRechecked && node.services.attendance !== null,
  named: async ({ node, account, gate }) => ({ ...gate, ...(await tokenOf(node, account, gate)) }),
  async check({ node, account, gate, fresh }) {
    const token = `the attendance token “${gate.name}”`
    const look = lookIn(node, gate, fresh)
    if (!look)
      return {
        passed: false,
        text: `Attendance verification is not configured here, and ${token} is needed to join this channel`,
        checked: [],
        details: {},
      }
    const wallets = await walletsOf(account)
    const looked = await Promise.allSettled(
      wallets.map(async (wallet) => ({ ...wallet, ...(await look(wallet.address)) })),
    )
    const found = looked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const passed = found.some(({ holds }) => holds)
    // One address with the token suffices. Without one, a failed look-up leaves the answer open.
    const failed = looked.find((one) => one.status === 'rejected')
    if (!passed && failed) throw failed.reason
    const youngest = Math.max(0, ...found.map(({ ageSeconds }) => ageSeconds))
    return {
      passed,
      text: passed ? `You hold ${token}` : `You need ${token} to join this channel, and must hold it in your wallet`,
      checked: found.map(({ address, holds, ageSeconds }) => ({
        requirement: token,
        subject: address,
        result: holds ? 'holds it' : 'does not hold it',
        source: 'attendance provider',
        cached_age_s: ageSeconds,
      })),
      details: passed || youngest === 0 ? {} : { retry_after_s: Math.max(1, noForSeconds - youngest) },
    }
  },
})

interface LookupResult {
  holds: boolean
  ageSeconds: number
}

/** The look-up of an address; null if no provider is configured. */
function lookIn(
  node: Node,
  { event_id, collection_id }: AttendanceGate,
  fresh: boolean,
): null | ((address: string) => Promise<LookupResult>) {
  const { attendance } = node.services
  const lookups = attendance && lookupsOf(node, attendance)
  if (!lookups) return null
  const atMostSeconds = fresh ? 0 : noForSeconds
  const anyOf = async (address: string, ids: readonly number[]): Promise<LookupResult> => {
    const { answer, ageSeconds } = await lookups.eventsOf(address, atMostSeconds)
    return { holds: answer.some(({ id }) => ids.includes(id)), ageSeconds }
  }
  if (event_id !== undefined)
    return async (address) => {
      const { answer, ageSeconds } = await lookups.holds(address, event_id, fresh ? 0 : undefined)
      // After a negative answer for the event, the whole list is searched too.
      return answer ? { holds: true, ageSeconds } : anyOf(address, [event_id])
    }
  const { collections } = lookups
  if (!collections || collection_id === undefined) return null
  return async (address) => {
    const { answer } = await collections.get(collection_id)
    return anyOf(address, answer?.dropIds ?? [])
  }
}

type Token = Pick<AttendanceGate, 'name' | 'image_url'>

/** The provider's name and image of a token that this account holds; the client's claims are ignored. */
async function tokenOf(node: Node, account: string, gate: AttendanceGate): Promise<Token> {
  // The account holds it, as was checked before. Without a name, it gets its number.
  const found = await foundAt(node, account, gate).catch(() => null)
  return {
    name:
      found?.name ?? (gate.event_id === undefined ? `Collection #${gate.collection_id}` : `Event #${gate.event_id}`),
    image_url: found?.image_url ?? null,
  }
}

async function foundAt(
  node: Node,
  account: string,
  { event_id, collection_id }: AttendanceGate,
): Promise<{ name: string | null; image_url: string | null } | null> {
  const { attendance } = node.services
  const lookups = attendance && lookupsOf(node, attendance)
  if (!lookups) return null
  if (event_id === undefined) {
    const { answer = null } = (await lookups.collections?.get(collection_id ?? 0)) ?? {}
    return answer && { name: answer.title, image_url: answer.logoImageUrl }
  }
  const wallets = await walletsOf(account)
  // A cached answer may be older than the token.
  for (const atMostSeconds of [undefined, 0])
    for (const { address } of wallets) {
      const { answer } = await lookups.eventsOf(address, atMostSeconds)
      const event = answer.find(({ id }) => id === event_id)
      if (event) return { name: event.name, image_url: event.imageUrl }
    }
  return null
}

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
