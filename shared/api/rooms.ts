import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  ClientId,
  count,
  Done,
  line,
  onceByKey,
  pageSize,
  RoomRef,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import type { FoundingOperation } from '#shared/kit/room-kinds'
import { Member, MemberRole, Room, RoomKey } from './room.ts'
import { Category, Description, Emoji, HttpsUrl, Name, Slug, Topic } from './room-fields.ts'
import { RoomId, seen } from './room-paths.ts'
import {
  archiveAliases,
  getAliases,
  joinAliases,
  kickAliases,
  leaveAliases,
  membersAliases,
  setRoleAliases,
  updateAliases,
} from './rooms-paths.ts'

const room = RoomRef
const RoomAnswer = z.object({ room: Room })
const named = ['BLOCKED_WORD', 'MESSAGE_REJECTED'] as const
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
    aliases: getAliases,
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
    aliases: updateAliases,
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
    errors: [...managed, ...named, 'MUTED'],
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
    errors: [...managed, ...named, 'BANNED', 'MUTED', 'LINKS_NOT_ALLOWED'],
    audit: true,
  }),
  archive: operation({
    summary: 'Close a room for good: it can be read, not written. Its owner and admins may.',
    http: 'POST /api/rooms/{room}/archive',
    aliases: archiveAliases,
    access: 'user',
    limit: 'general',
    repeat: 'harmless',
    input: z.object({ room }),
    output: RoomAnswer,
    errors: ['ROOM_NOT_FOUND', 'SUSPENDED'],
    audit: true,
  }),
  join: operation({
    summary: 'Become a member of a room.',
    http: 'POST /api/rooms/{room}/join',
    aliases: joinAliases,
    access: 'user',
    limit: 'general',
    repeat: 'harmless',
    input: z.object({ room }),
    output: RoomAnswer,
    errors: [...managed, 'BANNED', 'VALIDATION_ERROR'],
  }),
  leave: operation({
    summary: 'Give up membership. Nothing happens where there is none.',
    http: 'POST /api/rooms/{room}/leave',
    aliases: leaveAliases,
    access: 'user',
    limit: 'general',
    repeat: 'harmless',
    input: z.object({ room }),
    output: Done,
    errors: ['ROOM_NOT_FOUND'],
  }),
  members: operation({
    summary: 'The members of a room, newest first.',
    http: 'GET /api/rooms/{room}/members',
    aliases: membersAliases,
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
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({ id: RoomId, addresses: z.array(Address).min(1).max(100) }),
    output: z.object({ success: z.literal(true), added: z.array(z.string()) }),
    errors: [...managed, 'BANNED', 'USER_NOT_FOUND', 'BLOCKED'],
    audit: true,
  }),
  setRole: operation({
    summary: "Set a member's rank in a room. Only ranks below one's own can be touched or given.",
    http: 'PATCH /api/rooms/{room}/members/:address/role',
    aliases: setRoleAliases,
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
    aliases: kickAliases,
    access: 'user',
    limit: 'general',
    repeat: 'harmless',
    input: z.object({ room, address: Address, reason: text(500).optional() }),
    output: Done,
    errors: [...managed, 'NOT_FOUND', 'BANNED'],
    audit: true,
  }),
} satisfies Record<string, unknown> & Record<FoundingOperation, unknown>

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
