import { z } from 'zod'
import { Address, CallerAddress, count, Done, maybe, pageSize, repeatable, text } from '#shared/kit/primitives'
import { alpha } from '#shared/kit/room-key'
import { Category, Description, Emoji, HttpsUrl, MemberRole, Name, Room, Slug } from './room.ts'
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

/** The id of an event, or of a collection of events, at the provider of attendance tokens. */
export const AttendanceId = count(1, 2_147_483_647)
/** Becomes part of a name; what cannot be is left out of it. */
const GivenName = z.string().max(1_000).optional()
/** What is no image on the web is left out, as the provider's own is taken where it has one. */
const GivenImage = z
  .string()
  .max(2_000)
  .meta({ format: 'uri' })
  .nullish()
  .transform((given) => (HttpsUrl.safeParse(given).success ? given : null))
  .optional()

/** What a new channel is made of. One that belongs to an event or a collection has other defaults, and needs no name. */
export const NewChannel = z
  .object({
    ...repeatable,
    name: Name.optional(),
    description: Description.nullish(),
    emoji: Emoji.optional(),
    category: Category.optional(),
    slug: Slug.nullish(),
    messagingType: z
      .enum(['standard', 'p2p', 'waku'], { error: 'Invalid messaging type' })
      .meta({
        description:
          'Channels of attendance tokens are p2p, whatever is said; of others `p2p` is refused, and `waku`, which is the same.',
      })
      .optional(),
    isOfficial: maybe(z.boolean()).meta({
      description: 'Who moderates everywhere moderates it. For admins; a channel of attendance tokens is none.',
    }),
    accessLevel: maybe(z.enum(['public', 'staff'])).meta({
      description:
        'Of `staff` all admins and global moderators are members, and nobody else sees it. For admins; it is official, and has no slug.',
    }),
    creatorAddress: CallerAddress,
    userAddress: CallerAddress,
    ownerAddress: maybe(Address).meta({
      description: 'The caller alone: nobody owns a channel who has not founded it.',
    }),
    attendanceEventId: AttendanceId.optional(),
    attendanceEventName: GivenName,
    attendanceImageUrl: GivenImage,
    attendanceCollectionId: AttendanceId.optional(),
    attendanceCollectionName: GivenName,
    attendanceCollectionImageUrl: GivenImage,
    // The same, in other words.
    poapEventId: AttendanceId.optional(),
    poapEventName: GivenName,
    poapImageUrl: GivenImage,
    poapCollectionId: AttendanceId.optional(),
    poapCollectionName: GivenName,
    poapCollectionImageUrl: GivenImage,
  })
  .overwrite(
    ({
      poapEventId,
      poapEventName,
      poapImageUrl,
      poapCollectionId,
      poapCollectionName,
      poapCollectionImageUrl,
      ...given
    }) => ({
      ...given,
      attendanceEventId: given.attendanceEventId ?? poapEventId,
      attendanceEventName: given.attendanceEventName ?? poapEventName,
      attendanceImageUrl: given.attendanceImageUrl ?? poapImageUrl,
      attendanceCollectionId: given.attendanceCollectionId ?? poapCollectionId,
      attendanceCollectionName: given.attendanceCollectionName ?? poapCollectionName,
      attendanceCollectionImageUrl: given.attendanceCollectionImageUrl ?? poapCollectionImageUrl,
    }),
  )
  .check(({ value, issues }) => {
    const { attendanceEventId: event, attendanceCollectionId: collection, name, messagingType } = value
    const refuse = (path: string, message: string) =>
      void issues.push({ code: 'custom', message, input: value, path: [path] })
    if (event !== undefined && collection !== undefined)
      refuse('attendanceCollectionId', 'attendanceEventId or attendanceCollectionId, not both of them')
    if (event !== undefined || collection !== undefined) {
      if (value.isOfficial) refuse('isOfficial', 'a channel of attendance tokens is not official')
      if (value.accessLevel === 'staff') refuse('accessLevel', 'a channel of attendance tokens is not of the staff')
      return
    }
    if (value.accessLevel === 'staff' && value.slug) refuse('slug', 'a channel of the staff has none')
    if (name === undefined) refuse('name', 'name is required')
    if (messagingType === 'p2p' || messagingType === 'waku') refuse('messagingType', 'Invalid messaging type')
  })
