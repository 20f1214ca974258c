import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Address, CallerAddress, Done, nameLine, OneEmoji, Time } from '#shared/kit/primitives'
import { Color } from './profile-theme.ts'

/** Code points of the words of a tag. */
export const tagLength = 30

/** A private tag on a friend: words, an emoji or both, with or without a colour. */
export const FriendTag = z.object({
  id: z.string(),
  /** Whose tag it is. */
  user_address: z.string(),
  friend_address: z.string(),
  tag: z.string().nullable(),
  emoji: z.string().nullable(),
  color: z.string().nullable(),
  created_at: Time,
  updated_at: Time,
})
export type FriendTag = z.output<typeof FriendTag>

export const friendTags = {
  tags: operation({
    summary: 'The tags that the caller has put on friends, the newest change first; nobody else is ever told.',
    http: 'GET /api/friends/tags',
    socket: '/notifications friend-tag:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({ tags: z.array(FriendTag) }),
  }),
  tag: operation({
    summary:
      'Put a tag on a friend, in the place of the one before; what is left out is none. Without words and emoji it is taken away.',
    http: 'PUT /api/friends/tags',
    socket: '/notifications friend-tag:write',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      userAddress: CallerAddress,
      friendAddress: Address,
      tag: nameLine(0, tagLength).nullish(),
      emoji: z.literal('').or(OneEmoji).nullish(),
      color: z.literal('').or(Color).nullish(),
    }),
    output: z.object({ success: z.literal(true), tag: FriendTag.nullable() }),
    errors: ['NOT_FOUND'],
  }),
  untag: operation({
    summary: 'Take the tag off a friend; one that is not there is off already.',
    http: 'DELETE /api/friends/tags',
    socket: '/notifications friend-tag:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ userAddress: CallerAddress, friendAddress: Address }),
    output: Done,
  }),
}

export const friendTagChanged = event('/notifications friend-tag:changed', {
  summary: 'You have changed the tag of a friend, on this device or another; null where there is none now.',
  audience: 'account',
  payload: z.object({ friend_address: z.string(), tag: FriendTag.nullable() }),
})
