import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  Cursor,
  Done,
  Id,
  Link,
  nameLine,
  onceByKey,
  pageSize,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import { FriendTag, friendTagChanged, friendTags } from './profile-theme.ts'

/** How the other person is shown. */
const shown = {
  username: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar_url: Link.nullable(),
}

/** A friendship as one side sees it. Each side has a row, with its own id and nickname. */
export const Friend = z.object({
  id: z.string(),
  user_address: z.string(),
  friend_address: z.string(),
  nickname: z.string().nullable(),
  /** Seen by its owner alone. */
  tag: FriendTag.nullable(),
  /** The same, as a list of none or one. */
  tags: z.array(FriendTag),
  created_at: Time,
  ...shown,
})
export type Friend = z.output<typeof Friend>
export const FriendRequest = z.object({
  id: z.string(),
  from_address: z.string(),
  to_address: z.string(),
  status: z.enum(['pending', 'accepted']),
  memo: z.string().nullable(),
  created_at: Time,
  updated_at: Time,
  ...shown,
})
export type FriendRequest = z.output<typeof FriendRequest>

const Memo = text(100).nullish()
/** Seen by its owner alone; an empty one clears it. */
const Nickname = nameLine(0, 50).nullable()
const byRequest = z.object({ id: Id }).transform(({ id }) => ({ requestId: id }))

const requests = {
  requests: operation({
    summary: 'The requests that wait, newest first: up to 200 to the caller, and those of the caller.',
    http: 'GET /api/friend-requests',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ type: z.enum(['incoming', 'outgoing', 'all'], { error: 'Invalid type' }).default('all') }),
    output: z.object({ incoming: z.array(FriendRequest), outgoing: z.array(FriendRequest) }),
  }),
  request: operation({
    summary: 'Ask somebody to be friends. Where they have asked already, this accepts.',
    http: 'POST /api/friends/request',
    aliases: [
      {
        http: 'POST /api/friend-requests',
        input: z
          .object({
            toAddress: Address.optional(),
            to_address: Address.optional(),
            fromAddress: CallerAddress,
            from_address: CallerAddress,
            memo: Memo,
            ...repeatable,
          })
          .refine(({ toAddress, to_address }) => toAddress ?? to_address, { error: 'toAddress is required' })
          .transform(({ toAddress, to_address, memo, idempotency_key }) => ({
            toAddress: toAddress ?? to_address ?? '',
            memo,
            idempotency_key,
          })),
      },
    ],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({ ...repeatable, fromAddress: CallerAddress, toAddress: Address, memo: Memo }),
    output: FriendRequest.extend({ success: z.literal(true), request: FriendRequest }),
    errors: ['USER_NOT_FOUND'],
  }),
  accept: operation({
    summary: 'Accept a request to the caller.',
    http: 'POST /api/friends/accept',
    aliases: [{ http: 'POST /api/friend-requests/:id/accept', input: byRequest }],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({ requestId: Id }),
    output: z.object({ success: z.literal(true), friend: Friend }),
    errors: ['NOT_FOUND'],
  }),
  decline: operation({
    summary: 'Decline a request to the caller. Another may follow.',
    http: 'POST /api/friends/reject',
    aliases: [{ http: 'POST /api/friend-requests/:id/reject', input: byRequest }],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ requestId: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  cancel: operation({
    summary: 'Take a request of the caller back, if it still waits.',
    http: 'DELETE /api/friend-requests/:id',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ id: Id }),
    output: Done,
  }),
}

export const friends = {
  list: operation({
    summary: 'The friends of the caller, newest first. `next` continues as `before`; it is null at the end.',
    http: 'GET /api/friends',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress, limit: pageSize(500), before: Cursor.optional() }),
    output: z.object({ friends: z.array(Friend), next: z.string().nullable() }),
  }),
  rename: operation({
    summary: 'Give a friend a nickname that the caller alone sees.',
    http: 'PATCH /api/friends/:id',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ id: Id, nickname: Nickname, userAddress: CallerAddress }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  renameByAddress: operation({
    summary: 'Give a friend, named by address, a nickname that the caller alone sees.',
    http: 'PATCH /api/friends',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ friendAddress: Address, nickname: Nickname, userAddress: CallerAddress }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  remove: operation({
    summary: 'End a friendship, for both.',
    http: 'DELETE /api/friends/:id',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ id: Id, userAddress: CallerAddress }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  removeByAddress: operation({
    summary: 'End a friendship, named by address, for both.',
    http: 'DELETE /api/friends',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ friendAddress: Address, userAddress: CallerAddress }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  ...friendTags,
  ...requests,
}

export const friendRequested = event('/notifications friend:requested', {
  summary: 'A request to you, or one of yours from another device.',
  audience: 'account',
  payload: z.object({ request: FriendRequest }),
})
export const friendAccepted = event('/notifications friend:accepted', {
  summary: 'You and somebody are friends from now on: the row as you see it.',
  audience: 'account',
  payload: z.object({ friend: Friend }),
})
const EndedRequest = FriendRequest.pick({ id: true, from_address: true, to_address: true })
export const friendDeclined = event('/notifications friend:declined', {
  summary: 'A request waits no more, as its recipient declined it, or blocked who asked.',
  audience: 'account',
  payload: z.object({ request: EndedRequest }),
})
export const friendCancelled = event('/notifications friend:cancelled', {
  summary: 'A request waits no more, as who asked took it back, or blocked its recipient.',
  audience: 'account',
  payload: z.object({ request: EndedRequest }),
})
export const friendRemoved = event('/notifications friend:removed', {
  summary: 'You and somebody are friends no more: which row of yours is gone.',
  audience: 'account',
  payload: z.object({ friend: Friend.pick({ id: true, user_address: true, friend_address: true }) }),
})
export const friendEvents = {
  friendRequested,
  friendAccepted,
  friendDeclined,
  friendCancelled,
  friendRemoved,
  friendTagChanged,
}
