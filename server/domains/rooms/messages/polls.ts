import { isDeepStrictEqual } from 'node:util'
import type { Ruling } from '#server/domains/moderation/verdict/verdict'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { keyOf } from '#server/domains/rooms/room-state/access'
import { pollChanged, pollDeleted } from '#server/domains/rooms/room-state/events/polls'
import {
  type MessageFact,
  messageIn,
  muteIn,
  type PollFact,
  pollIn,
  voteIn,
} from '#server/domains/rooms/room-state/facts'
import { capabilitiesOf, judgeChange } from '#server/domains/rooms/room-state/judge-draft'
import { Polls, Votes } from '#server/domains/rooms/room-state/model'
import { isPurged, openPurgesIn } from '#server/domains/rooms/room-state/redaction'
import { messageOfRow, pollOf } from '#server/domains/rooms/room-state/rendered'
import { actorOf, entryOf, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
import type { Json, RoomKey, View } from '#server/log/types'
import { type Asked, polls as contract, type Poll } from '#shared/api/rooms/polls'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { roomOfKey } from '#shared/kit/primitives'
import { signForm } from '#shared/kit/reaction-sign'
import { sealedBy } from '#shared/kit/room-kinds'
import { draftOfPoll, pollInputOf } from './drafts.ts'
import { readableRoom } from './history.ts'
import { touchableMessage, writerStanding } from './removals.ts'
import { sendDraft } from './send.ts'

const list: Action<typeof contract.list> = async ({ room }, context) => {
  const { key } = await readableRoom(context, room)
  const { account } = context.caller
  const rows = await Polls.find({ room: key, is_active: true }).sort({ created_at: -1 }).limit(100).lean()
  const open = await openPurgesIn([key])
  const facts = rows
    .map(({ poll }) => poll as unknown as PollFact)
    .filter(({ creator_address: sender, message_seq: seq }) => !isPurged(open, { sender, seq }))
  const votes = await Votes.find({ poll_id: { $in: facts.map(({ poll_id }) => poll_id) }, is_active: true }).lean()
  const canCreatePoll = account !== null && (await mayCreatePoll(context, key, account))
  return { polls: facts.map((fact) => pollOutput(key, fact, votes, account)), canCreatePoll }
}

const namedAtMost = 100
/** Includes people who withdrew their votes. */
const lookedThrough = 1_000

const voters: Action<typeof contract.voters> = async ({ room, pollId }, context) => {
  const { key } = await readableRoom(context, room)
  const poll = await context.node.log.ask(key, (view) => {
    const found = pollIn(view, pollId)
    return found && messageIn(view, found.message_id)?.body.deleted === null ? found : null
  })
  if (!poll) throw new AppError('NOT_FOUND')
  if (poll.is_anonymous) return { voters: [] }
  const votes = (await Votes.find({ poll_id: pollId, is_active: true }).limit(lookedThrough).lean())
    .filter((vote) => vote.room === key && vote.options.length > 0)
    .slice(0, namedAtMost)
  const profiles = await profilesOf(
    context.node,
    votes.map(({ user_address }) => user_address),
  )
  return {
    voters: votes.map(({ user_address, options }) => ({
      user_address,
      user_name: profiles.get(user_address)?.name ?? user_address,
      options,
    })),
  }
}

const mayCreatePoll = ({ node }: Context, key: RoomKey, account: string) =>
  node.log.ask(key, (view, now) => capabilitiesOf(view, { node, account, now }).capabilities.poll.ok)

type Vote = { poll_id: string; user_address: string; options: readonly number[] }

function pollOutput(key: RoomKey, fact: PollFact, votes: readonly Vote[], account: string | null): Poll {
  const its = votes.filter(({ poll_id, options }) => poll_id === fact.poll_id && options.length > 0)
  const voters = its.map(({ user_address, options }) => ({ account: user_address, options }))
  return pollOf(roomOfKey(key), fact, {
    voters,
    mine: voters.find((vote) => isSameAccount(vote.account, account))?.options ?? [],
  })
}

async function pollFor(key: RoomKey, fact: PollFact, account: string): Promise<Poll> {
  const votes = await Votes.find({ poll_id: fact.poll_id, is_active: true }).lean()
  return pollOutput(key, fact, votes, account)
}

const create: Action<typeof contract.create> = async (
  { room, question, options, allowsMultiple, endsAt, ends_at, isAnonymous, client_msg_id },
  context,
) => {
  const { account } = signedIn(context)
  if (sealedBy(room) === 'epoch')
    throw new AppError('VALIDATION_ERROR', { message: 'room: a poll cannot be sealed, so direct messages have none' })
  const key = await keyOf(room)
  const end = endsAt ?? ends_at ?? null
  if (end !== null && Date.parse(end) <= context.node.now())
    throw new AppError('VALIDATION_ERROR', { message: 'endsAt: must be in the future' })
  refuseEqualOptions(options)
  const poll_id = newId()
  const asked: Asked = { question, options, allowsMultiple, endsAt: end, isAnonymous }
  const fact = (at: number): PollFact => ({
    poll_id,
    message_id: '',
    message_seq: 0,
    creator_address: account,
    question: asked.question,
    options: [...asked.options],
    allows_multiple: asked.allowsMultiple,
    ends_at: end,
    is_anonymous: asked.isAnonymous,
    is_closed: false,
    created_at: new Date(at).toISOString(),
    version: 1,
    counts: options.map(() => 0),
    voters: 0,
  })
  const { row, body } = await sendDraft(context, key, account, draftOfPoll(asked), {
    cid: client_msg_id,
    poll: (at) => ({ id: poll_id, poll: fact(at) as unknown as Json }),
  })
  if (!body.poll) throw new AppError('INTERNAL_ERROR')
  return { poll: pollOf(roomOfKey(key), { ...body.poll, message_id: row._id }), message: messageOfRow(row) }
}

function refuseEqualOptions(options: readonly string[]): void {
  const looks = options.map((option) => signForm(option).replace(/\s+/gu, ' '))
  if (new Set(looks).size < options.length)
    throw new AppError('VALIDATION_ERROR', { message: 'options: must differ from one another' })
}

function openPoll(view: View, account: string, pollId: string, now: number): PollFact {
  writerStanding(view, account, now)
  const poll = pollIn(view, pollId)
  const message = poll && messageIn(view, poll.message_id)
  if (!poll || !message || message.body.deleted) throw new AppError('NOT_FOUND', { message: 'Poll not found' })
  return poll
}

const mayManage = (view: View, account: string, poll: PollFact) =>
  isSameAccount(poll.creator_address, account) || standingOf(view, account).canPin

const update: Action<typeof contract.update> = async (
  { room, pollId, endsAt, ends_at, isClosed, ...anew },
  context,
) => {
  const { account } = signedIn(context)
  const end = endsAt === undefined ? ends_at : endsAt
  if (anew.options) refuseEqualOptions(anew.options)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  const { result } = await changePoll(context, key, account, pollId, (view, now) => {
    if (end && Date.parse(end) <= now)
      throw new AppError('VALIDATION_ERROR', { message: 'endsAt: must be in the future' })
    const mute = muteIn(view, account, now)
    const poll = openPoll(view, account, pollId, now)
    if (!mayManage(view, account, poll)) throw new AppError('FORBIDDEN', { message: 'You may not change this poll' })
    if (mute) throw new AppError('MUTED', { details: { until: mute.muted_until } })
    const asked = changedQuestion(poll, anew)
    const next = {
      ...poll,
      ...asked,
      ends_at: end === undefined ? poll.ends_at : end,
      is_closed: isClosed ?? poll.is_closed,
      version: poll.version + 1,
    }
    if (asked === null) return { poll: next, entry: entryOf(view, actor, pollChanged, { poll: next }) }
    const draft = draftOfPoll(pollInputOf(next))
    const { flagged } = judgeChange(view, draft, { node: context.node, account, now })
    const message = editedQuestion(
      touchableMessage(view, account, poll.message_id, now).message,
      draft.text,
      flagged,
      now,
    )
    return { poll: next, entry: entryOf(view, actor, pollChanged, { poll: next, message }) }
  })
  return { poll: await pollFor(key, result, account) }
}

/** The changed question of a poll; null if it is unchanged. With votes, only the wording may change. */
function changedQuestion(
  poll: PollFact,
  anew: Pick<InputOf<typeof contract.update>, 'question' | 'options' | 'allowsMultiple' | 'isAnonymous'>,
): Partial<PollFact> | null {
  const { question = poll.question, options = poll.options } = anew
  const { allowsMultiple: allows_multiple = poll.allows_multiple, isAnonymous: is_anonymous = poll.is_anonymous } = anew
  const kept = { options: poll.options, allows_multiple: poll.allows_multiple, is_anonymous: poll.is_anonymous }
  if (isDeepStrictEqual({ options, allows_multiple, is_anonymous }, kept))
    return question === poll.question ? null : { question }
  if (poll.voters > 0)
    throw new AppError('VALIDATION_ERROR', {
      message: 'Somebody has voted: options, allowsMultiple and isAnonymous stay as they are',
    })
  return { question, options, allows_multiple, is_anonymous, counts: options.map(() => 0) }
}

/** The message of a poll with its new question. */
function editedQuestion(message: MessageFact, text: string, flagged: Ruling['flagged'], now: number): MessageFact {
  const { poll: _, ...kept } = message.body
  const edited_at = new Date(now).toISOString()
  const changes = { text, flagged: flagged.map(({ id }) => id), version: kept.version + 1, edited_at }
  return { ...message, body: { ...kept, ...changes } }
}

const vote: Action<typeof contract.vote> = async (
  { room, pollId, optionIndex, option_id, as_read, client_action_id },
  context,
) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  const asked = (poll: PollFact) =>
    optionIndex ?? (typeof option_id === 'number' ? option_id : optionNamed(poll, option_id))
  const { result, body } = await changePoll(
    context,
    key,
    account,
    pollId,
    (view, now) => {
      const mine = voteIn(view, pollId, account)?.options ?? []
      const mute = muteIn(view, account, now)
      const poll = openPoll(view, account, pollId, now)
      const index = asked(poll)
      if (as_read && !isUnchangedSince(poll, index, as_read))
        throw new AppError('CONFLICT', { message: 'This poll asks something else by now. Read it again.' })
      if (index === undefined || !(index in poll.options))
        throw new AppError('VALIDATION_ERROR', { message: 'Invalid option index' })
      if (mute) throw new AppError('MUTED')
      if (poll.is_closed) throw new AppError('VALIDATION_ERROR', { message: 'This poll is closed' })
      if (poll.ends_at !== null && Date.parse(poll.ends_at) <= now)
        throw new AppError('VALIDATION_ERROR', { message: 'This poll has ended' })
      const kept = poll.allows_multiple ? mine.filter((one) => one !== index) : []
      const options = mine.includes(index) ? kept : [...kept, index]
      const counts = poll.counts.map((count, at) => count + Number(options.includes(at)) - Number(mine.includes(at)))
      const voters = poll.voters + Number(options.length > 0) - Number(mine.length > 0)
      const next = { ...poll, counts, voters, version: poll.version + 1 }
      return {
        poll: next,
        entry: entryOf(view, actor, pollChanged, {
          poll: next,
          vote: { account, options, removed: mine.includes(index) },
        }),
      }
    },
    {
      cid: client_action_id,
      isSame: (poll, made) => made?.options.includes(asked(poll) ?? -1) !== made?.removed,
    },
  )
  return { action: body.vote?.removed ? 'removed' : 'added', poll: await pollFor(key, result, account) }
}

/** Is the poll still as the voter read it? */
const isUnchangedSince = (
  poll: PollFact,
  index: number | undefined,
  { question, option, is_anonymous = poll.is_anonymous }: NonNullable<InputOf<typeof contract.vote>['as_read']>,
): boolean =>
  index !== undefined &&
  poll.question === question &&
  poll.options[index] === option &&
  poll.is_anonymous === is_anonymous

/** An option by index or text. */
const optionNamed = (poll: PollFact, name: string | undefined): number | undefined => {
  if (name === undefined) return undefined
  const at = poll.options.indexOf(name)
  if (at >= 0) return at
  return /^\d$/.test(name) ? Number(name) : undefined
}

/** An act under the sender's key: does its result match the repeated request? */
interface RepeatRule {
  cid?: string | undefined
  isSame?: (poll: PollFact, vote: { options: readonly number[]; removed: boolean } | undefined) => boolean
}

type ChangedPoll = { poll: PollFact; entry: ReturnType<typeof entryOf> }

async function changePoll(
  { node }: Context,
  key: RoomKey,
  account: string,
  pollId: string,
  next: (view: View, now: number) => ChangedPoll,
  { cid, isSame = () => true }: RepeatRule = {},
) {
  const { body } = await node.log.act(key, {
    sender: account,
    cid,
    makes: pollChanged,
    isRepeat: (_row, { poll, vote }) => poll.poll_id === pollId && isSame(poll, vote),
    judge: (view, now) => ({ accept: next(view, now).entry }),
  })
  return { result: body.poll, body }
}

const remove: Action<typeof contract.remove> = async ({ room, pollId }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  await context.node.log.act(key, {
    sender: account,
    makes: pollDeleted,
    judge: (view, now) => {
      const poll = openPoll(view, account, pollId, now)
      if (!mayManage(view, account, poll)) throw new AppError('FORBIDDEN', { message: 'You may not delete this poll' })
      return {
        accept: entryOf(view, actor, pollDeleted, {
          id: pollId,
          message_id: poll.message_id,
          at: new Date(now).toISOString(),
        }),
      }
    },
  })
  return { success: true }
}

export const polls = defineDomain(contract, { list, voters, create, update, remove, vote })
