import type { Actions } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { addressesOf, attendance as contract } from '#shared/api/rooms/attendance'
import { AppError } from '#shared/errors'
import {
  answerOrError,
  attendanceLookupsOf,
  channelsOf,
  eventsOf,
  memberAccountOf,
  notConfiguredError,
} from './listing.ts'
import { attendanceSettings } from './settings.ts'

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
