import { z } from 'zod'
import { Address, CallerAddress, count, Done, pageSize, text } from '#shared/kit/primitives'
import { alpha } from '#shared/kit/room-key'
import { MemberRole, Room } from './room.ts'
import { Category, Description, Emoji, HttpsUrl, Name, Slug } from './room-fields.ts'
import { channelRef, groupRef, RoomId } from './room-paths.ts'

/** Clients of the documented paths read the row at top level as well as under its name. */
const asChannel = {
  schema: z.object({ channel: Room }).and(Room),
  of: ({ room }: { room: Room }) => ({ channel: room, ...room }),
}
const asGroup = { schema: z.object({ group: Room }), of: ({ room }: { room: Room }) => ({ group: room }) }
/** What who has just become a member of a p2p room is given. */
const sharedKey = { p2p_symmetric_key: z.string().optional(), p2p_content_topic: z.string().nullable().optional() }
const succeeded = { schema: Done, of: () => ({ success: true }) }

const channelPath = { id: RoomId, userAddress: CallerAddress }
const onlyChannel = z.object(channelPath).transform(({ id }) => ({ room: channelRef(id) }))
const onlyGroup = z.object(channelPath).transform(({ id }) => ({ room: groupRef(id) }))
const onlyAlpha = z.object({ userAddress: CallerAddress }).transform(() => ({ room: alpha }))

export const getAliases = [
  { http: 'GET /api/channels/:id', input: onlyChannel, answer: asChannel },
  { http: 'GET /api/groups/:id', input: onlyGroup, answer: asGroup },
] as const

export const updateAliases = [
  {
    http: 'PATCH /api/channels/:id',
    input: z
      .object({
        ...channelPath,
        name: Name.optional(),
        description: Description.nullish(),
        emoji: Emoji.optional(),
        category: Category.optional(),
        slug: Slug.nullish(),
        icon_url: HttpsUrl.nullish(),
      })
      .transform(({ id, userAddress, ...patch }) => ({ room: channelRef(id), ...patch })),
    answer: asChannel,
  },
] as const

export const archiveAliases = [
  { http: 'POST /api/channels/:id/archive', input: onlyChannel, answer: succeeded },
] as const

export const joinAliases = [
  {
    http: 'POST /api/channels/:id/join',
    input: onlyChannel,
    answer: {
      schema: z.object({ success: z.literal(true), channelName: z.string(), ...sharedKey }),
      of: ({
        room: { name, p2p_content_topic },
        p2p_symmetric_key,
      }: {
        room: Room
        p2p_symmetric_key?: string | undefined
      }) => ({
        success: true,
        channelName: name,
        ...(p2p_symmetric_key === undefined ? {} : { p2p_symmetric_key, p2p_content_topic }),
      }),
    },
  },
  { http: 'POST /api/alpha/join', input: onlyAlpha, answer: succeeded },
] as const

export const leaveAliases = [
  { http: 'POST /api/channels/:id/leave', input: onlyChannel, answer: succeeded },
  { http: 'POST /api/groups/:id/leave', input: onlyGroup, answer: succeeded },
  { http: 'POST /api/alpha/leave', input: onlyAlpha, answer: succeeded },
] as const

export const membersAliases = [
  {
    http: 'GET /api/channels/:id/members',
    input: z
      .object({ ...channelPath, limit: pageSize(200, 100), offset: count(0, 10_000_000).default(0) })
      .transform(({ id, limit, offset }) => ({ room: channelRef(id), limit, offset })),
  },
  {
    http: 'GET /api/groups/:id/members',
    input: z
      .object({ ...channelPath, limit: pageSize(200, 100), offset: count(0, 10_000_000).default(0) })
      .transform(({ id, limit, offset }) => ({ room: groupRef(id), limit, offset })),
  },
] as const

export const setRoleAliases = [
  {
    http: 'PATCH /api/channels/:id/members/:address/role',
    input: z
      .object({ ...channelPath, address: Address, role: MemberRole })
      .transform(({ id, address, role }) => ({ room: channelRef(id), address, role })),
    answer: succeeded,
  },
] as const

export const kickAliases = [
  {
    http: 'POST /api/channels/:id/members/:address/kick',
    input: z
      .object({ ...channelPath, address: Address, reason: text(500).optional() })
      .transform(({ id, address, reason }) => ({ room: channelRef(id), address, reason })),
    answer: succeeded,
  },
  {
    http: 'DELETE /api/groups/:id/members/:address',
    input: z
      .object({ ...channelPath, address: Address })
      .transform(({ id, address }) => ({ room: groupRef(id), address })),
    answer: succeeded,
  },
] as const
