import type { Poll } from '#shared/api/rooms/polls'
import type { LocalPoll, RoomState } from './types.ts'

/**
 * A poll from an event. Events go to everybody and say nobody's votes: those known before are kept.
 * With `mayBeOwn` the event may be a vote of this account, made elsewhere.
 */
export function tellPoll(state: RoomState, poll: Poll, mayBeOwn: boolean): RoomState {
  const before = state.polls.get(poll.id)
  if ((before && before.version >= poll.version) || isDeleted(state, poll)) return state
  const { user_votes, votesKnownAt, votesChangedAt } = before ?? unknownVotes(poll)
  return withPoll(state, {
    ...poll,
    user_votes,
    votesKnownAt,
    votesChangedAt: mayBeOwn ? poll.version : votesChangedAt,
  })
}

/** Nobody has voted yet in the first version of a poll. */
const unknownVotes = ({ version }: Poll) => ({
  user_votes: [],
  votesKnownAt: version === 1 ? 1 : 0,
  votesChangedAt: version,
})

/** A poll from an answer to this account, which includes its votes. Answers and events may come in any order. */
export function answerPoll(state: RoomState, poll: Poll): RoomState {
  if (isDeleted(state, poll)) return state
  const before = state.polls.get(poll.id)
  if (before && before.votesKnownAt > poll.version) return state
  const newest = before && before.version > poll.version ? before : poll
  const votesChangedAt = before?.votesChangedAt ?? poll.version
  return withPoll(state, { ...newest, user_votes: poll.user_votes, votesKnownAt: poll.version, votesChangedAt })
}

const withPoll = (state: RoomState, poll: LocalPoll): RoomState => ({
  ...state,
  polls: new Map(state.polls).set(poll.id, poll),
})

export function withoutPolls(state: RoomState, isGone: (poll: Poll) => boolean): RoomState {
  const polls = new Map([...state.polls].filter(([, poll]) => !isGone(poll)))
  return polls.size === state.polls.size ? state : { ...state, polls }
}

const isDeleted = ({ messages }: RoomState, { message_id }: Poll): boolean =>
  messages.some(({ id, is_deleted }) => id === message_id && is_deleted)

/** The polls of loaded messages to fetch, because they or this account's votes are unknown, each with the lowest version that suffices. */
export const pollsToAsk = ({ messages, polls }: RoomState): Map<string, number> =>
  new Map(
    messages.flatMap(({ poll_id, is_deleted }) => {
      if (poll_id === null || is_deleted) return []
      const poll = polls.get(poll_id)
      if (!poll) return [[poll_id, 0] as const]
      return poll.votesKnownAt < poll.votesChangedAt ? [[poll_id, poll.votesChangedAt] as const] : []
    }),
  )
