import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Done, Id } from '#shared/kit/primitives'

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
