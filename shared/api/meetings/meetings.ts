import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  canonicalAddress,
  Done,
  Id,
  Link,
  maybe,
  nameLine,
  onceByKey,
  repeatable,
  Time,
} from '#shared/kit/primitives'

/** Somebody in a meeting. `peer` is this visit of theirs: of two people, the one with the greater `peer` makes the offer. */
export const Seated = z.object({ peer: z.string(), name: z.string(), isHost: z.boolean() })
export type Seated = z.infer<typeof Seated>

/** A description of WebRTC, with all its candidates in it. */
const Signal = z.object({ type: z.enum(['offer', 'answer']), sdp: z.string().min(1).max(20_000) })

const IceServer = z.object({
  urls: z.array(z.string()),
  username: z.string().optional(),
  credential: z.string().optional(),
})

export const seating = {
  enter: operation({
    summary:
      'Take a place in a meeting by a token of this server. Who enters a second time leaves the first place. It is left with the connection, too.',
    socket: '/meetings meeting:enter',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ token: z.string().min(1).max(4_096) }),
    output: z.object({ me: Seated, people: z.array(Seated), iceServers: z.array(IceServer) }),
    errors: ['MEETING_TOKEN_INVALID', 'HOST_ABSENT', 'MEETING_FULL', 'MEETING_ENDED', 'MEETING_EXPIRED'],
  }),
  signal: operation({
    summary: 'Send an offer or an answer to somebody who is in the same meeting; nothing happens where they are not.',
    socket: '/meetings meeting:signal',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ to: Id, signal: Signal }),
    output: Done,
  }),
  leave: operation({
    summary: 'Give up the place in a meeting.',
    socket: '/meetings meeting:leave',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    input: z.object({}),
    output: Done,
  }),
}

export const meetingEntered = event('/meetings meeting:entered', {
  summary: 'Somebody is in the meeting from now on; who entered is told so, too.',
  audience: 'meeting',
  payload: z.object({ person: Seated }),
})
export const meetingLeft = event('/meetings meeting:left', {
  summary: 'Somebody is in the meeting no more.',
  audience: 'meeting',
  payload: z.object({ peer: z.string() }),
})
export const meetingSignal = event('/meetings meeting:signal', {
  summary: 'An offer or an answer to you.',
  audience: 'meeting',
  payload: z.object({ from: z.string(), signal: Signal }),
})
export const meetingOver = event('/meetings meeting:over', {
  summary: 'You are in the meeting no more: its host ended it, or removed you, or you entered it elsewhere.',
  audience: 'meeting',
  payload: z.object({ why: z.enum(['ended', 'elsewhere', 'removed']) }),
})
export const meetingEvents = { meetingEntered, meetingLeft, meetingSignal, meetingOver }

/** How many people a meeting has at most. */
export const placesAtMost = 4

const joinCode = /^[A-HJ-NP-Z2-9]{6}$/
/** Six letters and digits in capitals, without those that look like another. */
export const isJoinCode = (code: string): boolean => joinCode.test(code)

/** A join code in any case, or the address of the account whose permanent room it is. */
const Code = z
  .string()
  .max(160)
  .overwrite((given) => {
    const code = given.trim().toUpperCase()
    return isJoinCode(code) ? code : canonicalAddress(given)
  })
  .refine((code) => isJoinCode(code) || Address.safeParse(code).success, { error: 'Invalid code' })

const Places = z
  .number()
  .int()
  .min(1)
  .overwrite((wanted) => Math.min(wanted, placesAtMost))
  .meta({ description: `At most ${placesAtMost}: more is taken as ${placesAtMost}.` })

const MeetingBase = z.object({
  id: z.string(),
  roomId: z.string(),
  joinCode: z.string(),
  title: z.string(),
  maxParticipants: z.number().int(),
  expiresAt: Time.nullable(),
})
const Listed = MeetingBase.extend({ participantCount: z.number().int(), createdAt: Time, joinUrl: Link })

const named = ['BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED'] as const
const gone = ['ROOM_NOT_FOUND', 'MEETING_ENDED', 'MEETING_EXPIRED'] as const

export const meetings = {
  create: operation({
    summary: 'Open a meeting for up to four people; it is over after 24 hours.',
    http: 'POST /api/rooms',
    socket: '/meetings meeting:create',
    access: 'user',
    limit: 'strict',
    cost: 'judged',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({
      /** Quick Meeting where none is named. */
      title: maybe(nameLine(1, 100)),
      /** 4 where no number is named. */
      maxParticipants: maybe(Places),
      hostWalletAddress: CallerAddress,
      ...repeatable,
    }),
    output: z.object({ success: z.literal(true), room: MeetingBase.extend({ joinUrl: Link }) }),
    errors: named,
  }),
  list: operation({
    summary: 'The newest ten meetings of the caller that go on, without the permanent room.',
    http: 'GET /api/rooms',
    socket: '/meetings meeting:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ wallet_address: CallerAddress }),
    output: z.object({ rooms: z.array(Listed) }),
  }),
  permanent: operation({
    summary: 'The permanent room of an account, which is made when it is first asked for.',
    http: 'GET /api/rooms/permanent',
    socket: '/meetings meeting:permanent',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ wallet_address: Address }),
    output: z.object({
      success: z.literal(true),
      room: z.object({ roomId: z.string(), permanentUrl: Link, walletAddress: z.string() }),
    }),
    errors: ['USER_NOT_FOUND'],
  }),
  get: operation({
    summary: 'A meeting by its join code, or the permanent room of an address.',
    http: 'GET /api/rooms/:code',
    socket: '/meetings meeting:get',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ code: Code }),
    output: z.object({
      room: MeetingBase.extend({
        participantCount: z.number().int(),
        createdAt: Time,
        isPermanent: z.boolean(),
        /** `isPresent` is null where a provider holds the meeting, as it only counts people. */
        host: z.object({
          address: z.string(),
          displayName: z.string(),
          avatar: Link.nullable(),
          isPresent: z.boolean().nullable(),
        }),
      }),
    }),
    errors: gone,
  }),
  end: operation({
    summary: 'End a meeting of the caller for everybody. A permanent room is emptied, and stays.',
    http: 'DELETE /api/rooms/:code',
    socket: '/meetings meeting:end',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ code: Code, hostWalletAddress: CallerAddress }),
    output: z.object({ success: z.literal(true), message: z.string() }),
    errors: ['ROOM_NOT_FOUND', 'UPSTREAM_ERROR', 'TIMEOUT'],
  }),
  remove: operation({
    summary:
      'Remove somebody from a meeting of the caller that is held over this server. They are told, and for an hour neither they nor guests who come from their address are let in.',
    http: 'DELETE /api/rooms/:code/people/:peer',
    socket: '/meetings meeting:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ code: Code, peer: Id }),
    output: Done,
    errors: ['ROOM_NOT_FOUND', 'NOT_FOUND'],
  }),
  token: operation({
    summary:
      'A token by which one person enters within ten minutes, under a display name. Who is not signed in is a guest. Into a permanent room they are let while its host is there. `url` is where it is taken; null is this server.',
    http: 'POST /api/rooms/:code/token',
    socket: '/meetings meeting:token',
    access: 'public',
    limit: 'general',
    cost: 'judged',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({
      code: Code,
      displayName: nameLine(1, 50, 'displayName is required'),
      walletAddress: CallerAddress,
    }),
    output: z.object({
      token: z.string(),
      roomId: z.string(),
      isHost: z.boolean(),
      identity: z.string(),
      url: Link.nullable(),
    }),
    errors: [...gone, 'HOST_ABSENT', 'BLOCKED', ...named, 'UPSTREAM_ERROR', 'TIMEOUT'],
  }),
  ...seating,
}
