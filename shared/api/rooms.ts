import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  ClientId,
  count,
  Done,
  Link,
  line,
  nameLine,
  onceByKey,
  pageSize,
  RoomRef,
  RoomType,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import { alpha } from '#shared/kit/room-key'

const room = RoomRef
export const RoomKey = z.object({ type: RoomType, id: z.string().nullable() })
const RoomId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, { error: 'Invalid room id' })
export const memberRoles = ['owner', 'admin', 'moderator', 'member'] as const
export const MemberRole = z.enum(memberRoles)
export type MemberRole = z.infer<typeof MemberRole>

export const Person = z.object({
  id: z.string(),
  name: z.string(),
  role: z.string().nullable(),
  isAgent: z.boolean(),
})
export type Person = z.infer<typeof Person>

/** The row of a room, as every list and look-up shows it. Documents 1 and 3, channel record. */
export const Room = z.object({
  id: z.string(),
  type: RoomType,
  name: z.string(),
  description: z.string().nullable(),
  /** What is talked about at present. */
  topic: z.string().nullable(),
  emoji: z.string(),
  icon_url: Link.nullable(),
  slug: z.string().nullable(),
  category: z.string(),
  creator_address: z.string().nullable(),
  owner_address: z.string().nullable(),
  is_official: z.boolean(),
  access_level: z.enum(['public', 'staff']),
  messaging_type: z.enum(['standard', 'p2p']),
  member_count: z.number().int(),
  message_count: z.number().int(),
  is_active: z.boolean(),
  is_member: z.boolean(),
  created_at: Time,
  updated_at: Time,
})
export type Room = z.infer<typeof Room>

export const RoomSummary = Room.extend({
  role: MemberRole.nullable(),
  head_seq: z.number().int(),
  read_seq: z.number().int(),
  unread: z.number().int(),
  mentions: z.number().int(),
  muted_until: Time.nullable(),
  is_muted: z.boolean(),
  /** The other person of a dm. */
  peer: Person.nullable(),
  last_message: z.object({ sender_address: z.string(), preview: z.string(), created_at: Time }).nullable(),
})
export type RoomSummary = z.infer<typeof RoomSummary>

export const Member = z.object({
  user_address: z.string(),
  joined_at: Time,
  role: MemberRole,
  username: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar: z.string().nullable(),
  name: z.string(),
  online: z.boolean(),
})
export type Member = z.infer<typeof Member>

const Name = nameLine(1, 100, 'name is required')
const Emoji = z.string().trim().min(1).max(16)
const Category = z.string().trim().min(1).max(40)
const Slug = z
  .string()
  .regex(/^(?![0-9a-f]{8}-[0-9a-f]{4}-)[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/, { error: 'Invalid slug' })
const HttpsUrl = z.url({ protocol: /^https$/ }).max(2_000)
const Description = text(500)
/** Empty: none. */
const Topic = nameLine(0, 250)
  .nullable()
  .transform((topic) => topic || null)

const RoomAnswer = z.object({ room: Room })
/** Clients of the documented paths read the row at top level as well as under its name. */
const asChannel = {
  schema: z.object({ channel: Room }).and(Room),
  of: ({ room }: { room: Room }) => ({ channel: room, ...room }),
}
const asGroup = { schema: z.object({ group: Room }), of: ({ room }: { room: Room }) => ({ group: room }) }
const succeeded = { schema: Done, of: () => ({ success: true }) }

/** `:id` of the channel paths: an id, a slug, or `global` for the alpha room. */
export const channelRef = (id: string): RoomRef => (id === 'global' ? alpha : { type: 'channel', id })
const groupRef = (id: string): RoomRef => ({ type: 'group', id })
const channelPath = { id: RoomId, userAddress: CallerAddress }
const onlyChannel = z.object(channelPath).transform(({ id }) => ({ room: channelRef(id) }))
const onlyGroup = z.object(channelPath).transform(({ id }) => ({ room: groupRef(id) }))
const onlyAlpha = z.object({ userAddress: CallerAddress }).transform(() => ({ room: alpha }))

const named = ['BLOCKED_WORD', 'MESSAGE_REJECTED'] as const
const seen = ['ROOM_NOT_FOUND', 'BANNED', 'NOT_A_MEMBER'] as const
const managed = ['ROOM_NOT_FOUND', 'ROOM_ARCHIVED', 'SUSPENDED'] as const

export const rooms = {
  list: operation({
    summary: 'List active channels: official ones first, then by members.',
    http: 'GET /api/channels',
    access: 'public',
    limit: 'general',
    errorBody: 'text',
    input: z.object({
      userAddress: CallerAddress,
      category: Category.optional(),
      joined: z.boolean().optional(),
      search: line(1, 100).optional(),
      limit: pageSize(200, 100),
      offset: count(0, 100_000).default(0),
    }),
    output: z.object({ channels: z.array(Room) }),
  }),
  get: operation({
    summary: 'One room. A channel is found by its id or its slug.',
    http: 'GET /api/rooms/{room}',
    aliases: [
      { http: 'GET /api/channels/:id', input: onlyChannel, answer: asChannel },
      { http: 'GET /api/groups/:id', input: onlyGroup, answer: asGroup },
    ],
    access: 'public',
    limit: 'general',
    input: z.object({ room }),
    output: RoomAnswer,
    errors: ['ROOM_NOT_FOUND'],
  }),
  createChannel: operation({
    summary: 'Create a channel; the caller becomes its owner.',
    http: 'POST /api/channels',
    access: 'user',
    limit: 'general',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      name: Name,
      description: Description.nullish(),
      emoji: Emoji.default('💬'),
      category: Category.default('general'),
      slug: Slug.nullish(),
      messagingType: z.literal('standard', { error: 'Invalid messaging type' }).optional(),
      creatorAddress: CallerAddress,
      userAddress: CallerAddress,
    }),
    output: z.object({ channel: Room }),
    errors: ['SUSPENDED', ...named],
    audit: true,
  }),
  createGroup: operation({
    summary: 'Create a group with these members; the caller becomes its admin.',
    http: 'POST /api/groups',
    access: 'user',
    limit: 'general',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      name: Name,
      emoji: Emoji.default('👥'),
      memberAddresses: z.array(Address).max(100).default([]),
    }),
    output: z.object({ group: Room }),
    errors: ['SUSPENDED', 'USER_NOT_FOUND', 'BLOCKED', ...named],
    audit: true,
  }),
  openDm: operation({
    summary: 'The direct conversation with another person; made when it is not there yet.',
    http: 'POST /api/dm',
    access: 'user',
    limit: 'general',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({ ...repeatable, recipientAddress: Address }),
    output: RoomAnswer,
    errors: ['USER_NOT_FOUND', 'SUSPENDED', 'BLOCKED'],
  }),
  update: operation({
    summary: 'Change what a room says of itself. Its owner, its admins and admins may.',
    http: 'PATCH /api/rooms/{room}',
    aliases: [
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
    ],
    access: 'user',
    limit: 'general',
    input: z.object({
      room,
      name: Name.optional(),
      description: Description.nullish(),
      emoji: Emoji.optional(),
      category: Category.optional(),
      slug: Slug.nullish(),
      icon_url: HttpsUrl.nullish(),
    }),
    output: RoomAnswer,
    errors: [...managed, ...named],
    audit: true,
  }),
  setTopic: operation({
    summary: 'Say what a room is about at present; null or empty takes that away. Its owner and its moderators may.',
    http: 'PATCH /api/rooms/{room}/topic',
    socket: '/rooms room:topic',
    access: 'user',
    limit: 'general',
    idempotency: { key: 'client_action_id', kept: 'log' },
    input: z.object({ room, topic: Topic, client_action_id: ClientId.optional() }),
    output: RoomAnswer,
    errors: [...managed, ...named, 'BANNED', 'LINKS_NOT_ALLOWED'],
    audit: true,
  }),
  archive: operation({
    summary: 'Close a room for good: it can be read, not written. Its owner and admins may.',
    http: 'POST /api/rooms/{room}/archive',
    aliases: [{ http: 'POST /api/channels/:id/archive', input: onlyChannel, answer: succeeded }],
    access: 'user',
    limit: 'general',
    input: z.object({ room }),
    output: RoomAnswer,
    errors: ['ROOM_NOT_FOUND', 'SUSPENDED'],
    audit: true,
  }),
  join: operation({
    summary: 'Become a member of a room.',
    http: 'POST /api/rooms/{room}/join',
    aliases: [
      {
        http: 'POST /api/channels/:id/join',
        input: onlyChannel,
        answer: {
          schema: z.object({ success: z.literal(true), channelName: z.string() }),
          of: ({ room: { name } }) => ({ success: true, channelName: name }),
        },
      },
      { http: 'POST /api/alpha/join', input: onlyAlpha, answer: succeeded },
    ],
    access: 'user',
    limit: 'general',
    input: z.object({ room }),
    output: RoomAnswer,
    errors: [...managed, 'BANNED', 'VALIDATION_ERROR'],
  }),
  leave: operation({
    summary: 'Give up membership. Nothing happens where there is none.',
    http: 'POST /api/rooms/{room}/leave',
    aliases: [
      { http: 'POST /api/channels/:id/leave', input: onlyChannel, answer: succeeded },
      { http: 'POST /api/groups/:id/leave', input: onlyGroup, answer: succeeded },
      { http: 'POST /api/alpha/leave', input: onlyAlpha, answer: succeeded },
    ],
    access: 'user',
    limit: 'general',
    input: z.object({ room }),
    output: Done,
    errors: ['ROOM_NOT_FOUND'],
  }),
  members: operation({
    summary: 'The members of a room, newest first.',
    http: 'GET /api/rooms/{room}/members',
    aliases: [
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
    ],
    access: 'public',
    limit: 'general',
    input: z.object({ room, limit: pageSize(200, 100), offset: count(0, 10_000_000).default(0) }),
    output: z.object({ members: z.array(Member), total: z.number().int(), hasMore: z.boolean() }),
    errors: seen,
  }),
  addMembers: operation({
    summary: 'Bring people into a group. Its admin may.',
    http: 'POST /api/groups/:id/members',
    access: 'user',
    limit: 'general',
    errorBody: 'text',
    input: z.object({ id: RoomId, addresses: z.array(Address).min(1).max(100) }),
    output: z.object({ success: z.literal(true), added: z.array(z.string()) }),
    errors: [...managed, 'BANNED', 'USER_NOT_FOUND', 'BLOCKED'],
    audit: true,
  }),
  setRole: operation({
    summary: "Set a member's rank in a room. Only ranks below one's own can be touched or given.",
    http: 'PATCH /api/rooms/{room}/members/:address/role',
    aliases: [
      {
        http: 'PATCH /api/channels/:id/members/:address/role',
        input: z
          .object({ ...channelPath, address: Address, role: MemberRole })
          .transform(({ id, address, role }) => ({ room: channelRef(id), address, role })),
        answer: succeeded,
      },
    ],
    access: 'user',
    limit: 'general',
    input: z.object({ room, address: Address, role: MemberRole }),
    output: Done,
    errors: [...managed, 'NOT_FOUND', 'BANNED'],
    audit: true,
  }),
  kick: operation({
    summary: 'Remove a member of lower rank; they may come back.',
    http: 'POST /api/rooms/{room}/members/:address/kick',
    aliases: [
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
    ],
    access: 'user',
    limit: 'general',
    input: z.object({ room, address: Address, reason: text(500).optional() }),
    output: Done,
    errors: [...managed, 'NOT_FOUND', 'BANNED'],
    audit: true,
  }),
}

/** Where a typist, an online count and other passing things are told. */
export const ephemeral = event('/rooms room:ephemeral', {
  summary:
    'Who types and how many are online. At most once a second, every five among more than 500 people; may be dropped.',
  audience: 'room',
  payload: z.object({
    room: RoomKey,
    typing: z.array(z.object({ id: z.string(), name: z.string(), until: Time })),
    online: z.number().int(),
    v: z.number().int(),
  }),
})

export const access = event('/rooms room:access', {
  summary: 'What a moderator did to you in a room. To your own sockets only, before you are taken out.',
  audience: 'account',
  payload: z.object({
    room: RoomKey,
    state: z.enum(['granted', 'muted', 'banned', 'removed', 'warned']),
    code: z.string(),
    text: z.string(),
    until: Time.nullable(),
    reason: z.string().nullable(),
    appeal: z.string().nullable(),
  }),
})

export const Capabilities = z.record(z.string(), z.object({ ok: z.boolean(), code: z.string().nullable() }))
export const capabilitiesChanged = event('/rooms room:capabilities', {
  summary: 'What you may post in a room, and when, on any change.',
  audience: 'account',
  payload: z.object({
    room: RoomKey,
    v: z.number().int(),
    capabilities: Capabilities,
    next_send_at: Time.nullable(),
    max_length: z.number().int(),
    rules_version: z.number().int(),
  }),
})

export const heads = event('/rooms room:heads', {
  summary: 'The newest seq of each room this socket holds, every 25 seconds, so that a silent loss is noticed.',
  audience: 'socket',
  payload: z.object({ heads: z.record(z.string(), z.number().int()) }),
})

export const roomEvents = { ephemeral, access, capabilitiesChanged, heads }
