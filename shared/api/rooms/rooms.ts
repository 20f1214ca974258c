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
import { Gate, GateAnswer, gated, unasked } from './gates.ts'
import {
  joinLocationAliases,
  leaveLocationAliases,
  locationRooms,
  membersLocationAliases,
  Position,
} from './location-rooms.ts'
import { NewGroup, publicRooms } from './public-rooms.ts'
import { Category, Description, Emoji, HttpsUrl, Member, MemberRole, Name, Room, RoomKey, Slug, Topic } from './room.ts'
import { RoomId, seen } from './room-paths.ts'
import {
  archiveAliases,
  getAliases,
  joinAliases,
  kickAliases,
  leaveAliases,
  membersAliases,
  NewChannel,
  setRoleAliases,
  updateAliases,
} from './rooms-paths.ts'
import {
  getTokenAliases,
  joinTokenAliases,
  kickTokenAliases,
  leaveTokenAliases,
  membersTokenAliases,
  setRoleTokenAliases,
  updateTokenAliases,
} from './token-rooms-paths.ts'
import { tokenRooms } from './tokens.ts'

const room = RoomRef
const RoomAnswer = z.object({ room: Room })
/** Of a p2p room: 32 bytes in base64. */
const SharedKey = { p2p_symmetric_key: z.string().optional() }
const Gated = z.object({ gate: Gate.nullable(), answer: GateAnswer.nullable() })
const named = ['BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED'] as const
const managed = ['ROOM_NOT_FOUND', 'ROOM_ARCHIVED'] as const

export const rooms = {
  list: operation({
    summary:
      'List active channels: official ones first, then by members. A word of more than 200 channels is looked for in the 500 first. Every 100 channels that are looked through, or passed over, cost as much as a call, and all of them no more than 25.',
    http: 'GET /api/channels',
    access: 'public',
    limit: 'general',
    cost: { rooms: 100 },
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
    aliases: [...getAliases, ...getTokenAliases],
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room }),
    output: RoomAnswer,
    errors: ['ROOM_NOT_FOUND'],
  }),
  createChannel: operation({
    summary:
      'Create a channel; the caller becomes its owner. With an event or a collection it is the one channel of it, for holders of its token.',
    http: 'POST /api/channels',
    access: 'user',
    limit: 'general',
    cost: 'judged',
    errorBody: 'text',
    idempotency: onceByKey,
    input: NewChannel,
    output: z.object({ channel: Room.extend(SharedKey) }),
    errors: [...named, ...gated],
    audit: true,
  }),
  createGroup: operation({
    summary:
      'Create a group; the caller becomes its admin. Of these people, friends of the caller are members at once, others are invited.',
    http: 'POST /api/groups',
    access: 'user',
    limit: 'general',
    cost: 'judged',
    errorBody: 'text',
    idempotency: onceByKey,
    input: NewGroup,
    output: z.object({ group: Room, invited: z.array(z.string()) }),
    errors: ['USER_NOT_FOUND', 'BLOCKED', 'CONFLICT', ...named],
    audit: true,
  }),
  groups: operation({
    summary: 'The groups of the caller that are not archived, newest first.',
    http: 'GET /api/groups',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress, limit: pageSize(200, 100), offset: count(0, 100_000).default(0) }),
    output: z.object({ groups: z.array(Room) }),
  }),
  ...publicRooms,
  ...tokenRooms,
  ...locationRooms,
  openDm: operation({
    summary: 'The direct conversation with another person; made when it is not there yet.',
    http: 'POST /api/dm',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({ ...repeatable, recipientAddress: Address }),
    output: RoomAnswer,
    errors: ['USER_NOT_FOUND', 'BLOCKED'],
  }),
  update: operation({
    summary: 'Change what a room says of itself. Its owner, its admins and admins may.',
    http: 'PATCH /api/rooms/{room}',
    aliases: [...updateAliases, ...updateTokenAliases],
    access: 'user',
    limit: 'general',
    cost: 'judged',
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
    cost: 'judged',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
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
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ room }),
    output: RoomAnswer,
    errors: ['ROOM_NOT_FOUND'],
    audit: 'room',
  }),
  join: operation({
    summary: 'Become a member of a room.',
    http: 'POST /api/rooms/{room}/join',
    socket: '/rooms membership:join',
    aliases: [...joinAliases, ...joinTokenAliases, ...joinLocationAliases],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({
      room,
      /** Where the caller says they are, as in `position:claim`, for a room that asks for that. */
      position: Position.optional(),
    }),
    output: RoomAnswer.extend({
      ...SharedKey,
      /** They were a member before. */
      already: z.boolean(),
      /** What the gate of the room found; null where it was not asked. */
      answer: GateAnswer.nullable(),
    }),
    errors: [...managed, 'BANNED', 'VALIDATION_ERROR', 'POSITION_NOT_PLAUSIBLE', ...gated],
  }),
  sharedKey: operation({
    summary: 'The key that the members of a p2p room share, for its members.',
    http: 'GET /api/rooms/{room}/key',
    socket: '/rooms room:key',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room }),
    output: z.object({ p2p_symmetric_key: z.string() }),
    errors: ['ROOM_NOT_FOUND', 'NOT_A_MEMBER', 'NOT_FOUND', 'BANNED'],
  }),
  gate: operation({
    summary:
      'What a room asks of who joins, and how the caller stands. `answer` is null where nothing is asked of them.',
    http: 'GET /api/rooms/{room}/gate',
    socket: '/rooms gate:show',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room }),
    output: Gated,
    errors: ['ROOM_NOT_FOUND', ...unasked],
  }),
  recheckGate: operation({
    summary: 'The same, asked of its source again whatever is remembered; once a minute in each room.',
    http: 'POST /api/rooms/{room}/gate',
    socket: '/rooms gate:recheck',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ room }),
    output: Gated,
    errors: ['ROOM_NOT_FOUND', ...unasked],
  }),
  leave: operation({
    summary: 'Give up membership. Nothing happens where there is none.',
    http: 'POST /api/rooms/{room}/leave',
    socket: '/rooms membership:leave',
    aliases: [...leaveAliases, ...leaveTokenAliases, ...leaveLocationAliases],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'withdraws',
    input: z.object({ room }),
    output: Done,
    errors: ['ROOM_NOT_FOUND', 'VALIDATION_ERROR'],
  }),
  members: operation({
    summary: 'The members of a room, newest first.',
    http: 'GET /api/rooms/{room}/members',
    aliases: [...membersAliases, ...membersTokenAliases, ...membersLocationAliases],
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      room,
      limit: pageSize(200, 100),
      offset: count(0, 10_000_000).default(0),
      /** In addresses and names, also those made for people without one; the newest 2,000 members are looked through. */
      search: line(1, 100).optional(),
    }),
    output: z.object({ members: z.array(Member), total: z.number().int(), hasMore: z.boolean() }),
    errors: seen,
  }),
  staff: operation({
    summary:
      'Who runs a room: its owner, admins and moderators, and in official rooms those who moderate everywhere. Who cannot moderate is not among them.',
    http: 'GET /api/rooms/{room}/staff',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room }),
    output: z.object({ staff: z.array(Member) }),
    errors: seen,
  }),
  addMembers: operation({
    summary: 'Bring people into a group. Its admin may. Friends of the caller are added, others are invited.',
    http: 'POST /api/groups/:id/members',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({ id: RoomId, addresses: z.array(Address).min(1).max(100) }),
    output: z.object({ success: z.literal(true), added: z.array(z.string()), invited: z.array(z.string()) }),
    errors: [...managed, 'BANNED', 'USER_NOT_FOUND', 'BLOCKED', 'CONFLICT'],
    audit: true,
  }),
  setRole: operation({
    summary: "Set a member's rank in a room. Only ranks below one's own can be touched or given.",
    http: 'PATCH /api/rooms/{room}/members/:address/role',
    aliases: [...setRoleAliases, ...setRoleTokenAliases],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room, address: Address, role: MemberRole }),
    output: Done,
    errors: [...managed, 'NOT_FOUND', 'BANNED'],
    audit: 'address',
  }),
  handOver: operation({
    summary:
      'Hand a room over to another member, who runs it from then on. Who runs it may, and has the role below afterwards; super admins appoint somebody so in any room.',
    http: 'POST /api/rooms/{room}/hand-over',
    socket: '/rooms membership:hand-over',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: { key: 'client_action_id', kept: 'log' },
    input: z.object({ room, address: Address, client_action_id: ClientId.optional() }),
    output: Done,
    errors: [...managed, 'NOT_FOUND', 'BANNED', 'VALIDATION_ERROR'],
    audit: 'address',
  }),
  kick: operation({
    summary: 'Remove a member of lower rank; they may come back.',
    http: 'POST /api/rooms/{room}/members/:address/kick',
    aliases: [...kickAliases, ...kickTokenAliases],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ room, address: Address, reason: text(500).optional() }),
    output: Done,
    errors: [...managed, 'NOT_FOUND', 'BANNED'],
    audit: 'address',
  }),
} satisfies Record<string, unknown> & Record<FoundingOperation, unknown>

/** The event of typists, online counts and other transient data. */
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
