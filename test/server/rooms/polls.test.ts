// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Polls, Votes } from '#server/domains/rooms/room-state/model'
import { RoomEvents } from '#server/log/model'
import { moderation } from '#shared/api/moderation/moderation'
import type { RulesPatch } from '#shared/api/moderation/verdict'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { type Poll, polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, groupOf, listenTo, moderates, over, type Person, people } from '#test/support/people'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

let server: Booted
let root: Person
let owner: Person
let member: Person
let other: Person
let outsider: Person
const options = ['tea', 'coffee', 'water']
const drinks = { question: 'What to drink?', options }
const noPoll = '018f0000-0000-7000-8000-000000000001'
const nowhere = { type: 'channel', id: '018f0000-0000-7000-8000-000000000000' } as const

beforeAll(async () => {
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address } })
  ;[root, owner, member, other, outsider] = await people(server, 'root', 'owner', 'member', 'other', 'outsider')
})
afterAll(() => server.close())

const counts = ({ votes }: Poll) => votes.map(({ count }) => count)
const shown = async (who: Person, room: RoomRef, id: string) =>
  (await who.does('rest', polls.list, { room })).polls.find((poll) => poll.id === id)

test('a poll is read with the votes that it counts, however slowly they are written', async () => {
  const room = await channelOf(owner, member)
  const { poll } = await owner.does('rest', polls.create, { room, ...drinks })
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const write = Votes.bulkWrite.bind(Votes)
  // Each node that follows the room writes them, and whoever is first counts.
  const held = vi.spyOn(Votes, 'bulkWrite').mockImplementation(async (...given: Parameters<typeof write>) => {
    await opened
    return write(...given)
  })
  try {
    const voting = member.does('rest', polls.vote, { room, pollId: poll.id, optionIndex: 1 })
    await expect.poll(() => held.mock.calls.length).toBeGreaterThan(0)
    for (let look = 0; look < 10; look++) {
      const known = await shown(member, room, poll.id)
      expect([known?.version, known?.user_votes]).toEqual([1, []])
    }
    open()
    await voting
    await expect
      .poll(async () => {
        const known = await shown(member, room, poll.id)
        return [known?.version, known?.user_votes]
      })
      .toEqual([2, [1]])
  } finally {
    open()
    held.mockRestore()
  }
})

describe.each(over)('a poll asked over %s', (door) => {
  solo('is a message in the order of the room, and is listed newest first', async () => {
    const room = await channelOf(owner, member)
    const first = await owner.does(door, polls.create, { room, ...drinks })
    const second = await owner.does(door, polls.create, { room, ...drinks, question: 'And to eat?', isAnonymous: true })
    expect(first.poll).toMatchObject({
      message_id: first.message.id,
      channel_id: room.id,
      group_id: null,
      creator_address: owner.account,
      ...drinks,
      allows_multiple: false,
      is_closed: false,
      total_votes: 0,
      user_votes: [],
    })
    expect(first.message).toMatchObject({
      message_type: 'poll',
      poll_id: first.poll.id,
      content: '[POLL]What to drink?',
    })
    const { polls: listed, canCreatePoll } = await member.does('rest', polls.list, { room })
    expect(listed.map(({ id }) => id)).toEqual([second.poll.id, first.poll.id])
    expect(canCreatePoll).toBe(true)
    expect((await owner.does('rest', polls.list, { room })).canCreatePoll).toBe(true)
    expect((await member.rest(`GET /api/channels/${room.id}/polls`)).body).toEqual({ polls: listed, canCreatePoll })
  })

  solo.each([
    ['no question', { question: '' }, 'question is required'],
    ['one option', { options: ['tea'] }, 'A poll has at least 2 options'],
    ['eleven options', { options: Array.from({ length: 11 }, (_, at) => `${at}`) }, 'A poll has at most 10 options'],
    ['the same option twice', { options: ['tea', 'tea'] }, 'options: must differ from one another'],
    [
      'N29: an option twice, composed and not',
      { options: ['caf\u00e9', 'cafe\u0301'] },
      'options: must differ from one another',
    ],
    ['N29: a heart twice', { options: ['\u2764', '\u2764\ufe0f'] }, 'options: must differ from one another'],
    ['N29: what is not seen in an option', { options: ['tea', 'te\u200ba'] }, 'options: must differ from one another'],
    ['N29: another space in an option', { options: ['a b', 'a\u00a0 b'] }, 'options: must differ from one another'],
    ['an end in the past', { endsAt: '2020-01-01T00:00:00Z' }, 'endsAt: must be in the future'],
  ])('is refused with %s', async (_title, spoiled, text) => {
    const room = await channelOf(owner)
    const refused = await owner.refused(door, polls.create, { room, ...drinks, ...spoiled })
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', status: 400, message: text })
  })

  solo('is judged like any other message', async () => {
    const room = await channelOf(owner, member)
    await owner.does('rest', rooms.setRole, { room, address: member.account, role: 'moderator' })
    const asks = (spoiled: object = {}) => member.refused(door, polls.create, { room, ...drinks, ...spoiled })
    const settle = (rules: RulesPatch) => moderates(owner, { room, action: 'rules', patch: { rules } })
    await settle({ polls_allowed: 'disabled' })
    expect(await asks()).toMatchObject({ code: 'CONTENT_NOT_ALLOWED', verdict: { step: 'content_type' } })
    await settle({ polls_allowed: 'everyone', max_message_length: 8 })
    expect((await asks()).code).toBe('MESSAGE_TOO_LONG')
    await settle({ max_message_length: 0, links_allowed: 'disabled' })
    expect((await asks({ question: 'See https://a.example ?' })).code).toBe('LINKS_NOT_ALLOWED')
    await moderates(owner, { room, action: 'word_add', patch: { word: 'drink', word_action: 'block' } })
    expect((await asks()).code).toBe('BLOCKED_WORD')
    await moderates(owner, { room, action: 'word_add', patch: { word: 'what', word_action: 'mute' } })
    expect((await asks({ question: 'What?' })).code).toBe('MESSAGE_REJECTED')
    const slow = await groupOf(owner, member)
    await moderates(owner, { room: slow, action: 'rules', patch: { rules: { slow_mode_seconds: 60 } } })
    await member.does(door, polls.create, { room: slow, ...drinks })
    expect((await member.refused(door, polls.create, { room: slow, ...drinks })).code).toBe('SLOW_MODE')
    await moderates(owner, { room: slow, action: 'rules', patch: { rules: { read_only: true } } })
    expect((await member.refused(door, polls.create, { room: slow, ...drinks })).code).toBe('READ_ONLY')
    await moderates(owner, { room: slow, action: 'mute', target: member.account, duration: '1h' })
    expect((await member.refused(door, polls.create, { room: slow, ...drinks })).code).toBe('MUTED')
  })

  solo(
    'M32: is for every member where polls are allowed to everyone, for moderators or for nobody where the rule says so',
    async () => {
      for (const room of [await channelOf(owner, member), await groupOf(owner, member)]) {
        const may = async (who: Person) => (await who.does('rest', polls.list, { room })).canCreatePoll
        const settle = (polls_allowed: 'everyone' | 'mods_only' | 'disabled') =>
          moderates(owner, { room, action: 'rules', patch: { rules: { polls_allowed } } })
        expect([await may(owner), await may(member)]).toEqual([true, true])
        await member.does(door, polls.create, { room, ...drinks })
        await settle('mods_only')
        expect([await may(owner), await may(member)]).toEqual([true, false])
        const refused = await member.refused(door, polls.create, { room, ...drinks })
        expect(refused).toMatchObject({ code: 'CONTENT_NOT_ALLOWED', message: 'Polls are not allowed' })
        await owner.does(door, polls.create, { room, ...drinks })
        await settle('disabled')
        expect([await may(owner), await may(member)]).toEqual([false, false])
        expect((await owner.refused(door, polls.create, { room, ...drinks })).code).toBe('CONTENT_NOT_ALLOWED')
      }
    },
  )

  solo('is for members alone', async () => {
    const room = await channelOf(owner, member)
    expect((await outsider.refused(door, polls.create, { room, ...drinks })).code).toBe('NOT_A_MEMBER')
    expect((await owner.refused(door, polls.create, { room: nowhere, ...drinks })).code).toBe('ROOM_NOT_FOUND')
    const group = await groupOf(owner, member)
    const { poll } = await member.does(door, polls.create, { room: group, ...drinks })
    expect(poll).toMatchObject({ group_id: group.id, channel_id: null })
    expect((await outsider.refused('rest', polls.list, { room: group })).code).toBe('ROOM_NOT_FOUND')
  })

  solo('a repeat with its key is the same poll', async () => {
    const room = await channelOf(owner)
    const input = { room, ...drinks, client_msg_id: `same-poll-${door}` }
    const first = await owner.does(door, polls.create, input)
    expect((await owner.does(door, polls.create, input)).poll.id).toBe(first.poll.id)
    const headers = { 'idempotency-key': `header-${door}` }
    const aliased = [1, 2].map(() => owner.rest(`POST /api/channels/${room.id}/polls`, drinks, headers))
    const [one, two] = await Promise.all(aliased)
    expect(two?.body).toEqual(one?.body)
    expect((await owner.does('rest', polls.list, { room })).polls).toHaveLength(2)
    const { message } = await owner.does(door, messages.send, {
      room,
      text: 'no poll',
      client_msg_id: `no-poll-${door}`,
    })
    const taken = await owner.refused(door, polls.create, { ...input, client_msg_id: message.client_msg_id })
    expect(taken).toMatchObject({ code: 'CONFLICT', status: 409 })
  })
})

solo(
  'M35: a documented path answers the new poll at top level as well, and a poll says whether it is active',
  async () => {
    const room = await channelOf(owner, member)
    const ends_at = new Date(Date.now() + 60_000).toISOString()
    const { body } = await member.rest(`POST /api/channels/${room.id}/polls`, { ...drinks, ends_at })
    const { poll } = body as { poll: Poll }
    expect(body).toMatchObject({ id: poll.id, question: drinks.question, is_active: true, poll: { is_active: true } })
    const stored = await Polls.findOne({ poll_id: poll.id }).lean()
    expect(stored).not.toBeNull()
    await Polls.updateOne({ poll_id: poll.id }, { $set: { 'poll.ends_at': new Date(0).toISOString() } })
    expect(await shown(member, room, poll.id)).toMatchObject({ is_active: false, is_closed: false })
    const open = (await owner.does('socket', polls.create, { room, ...drinks })).poll
    const closed = await owner.does('rest', polls.update, { room, pollId: open.id, isClosed: true })
    expect(closed.poll).toMatchObject({ is_active: false, is_closed: true })
  },
)

describe.each(over)('M35: options as objects over %s', (door) => {
  const numbers = ['2', '0', '1']
  const detail = (...votes: number[]) => numbers.map((text, id) => ({ id, text, vote_count: votes[id] ?? 0 }))

  solo('stand beside the texts in every answer and every event, and their ids are what a vote names', async () => {
    for (const isAnonymous of [false, true]) {
      const room = await channelOf(owner, member)
      const line = await other.line()
      await other.does('rest', rooms.join, { room })
      await other.does('socket', messages.join, { room })
      const asked = await owner.does(door, polls.create, { room, question: 'How many?', options: numbers, isAnonymous })
      const { id: pollId } = asked.poll
      expect(asked.poll).toMatchObject({ options: numbers, options_detail: detail() })
      for (const { id } of asked.poll.options_detail) {
        const { poll } = await member.does(door, polls.vote, { room, pollId, option_id: id })
        expect(poll).toMatchObject({
          user_votes: [id],
          options_detail: detail(...[0, 1, 2].map((at) => Number(at === id))),
        })
      }
      await other.does(door, polls.vote, { room, pollId, optionIndex: 0 })
      expect(await shown(outsider, room, pollId)).toMatchObject({ options: numbers, options_detail: detail(1, 0, 1) })
      const told = await line.follows(room, ({ type, data }) => type === 'poll.changed' && data.poll.total_votes === 2)
      expect(told.data).toMatchObject({ poll: { options: numbers, options_detail: detail(1, 0, 1) } })
      const made = await line.follows(room, ({ type }) => type === 'message.created')
      expect(made.data).toMatchObject({ poll: { options_detail: detail() } })
      await owner.does('rest', polls.update, { room, pollId, isClosed: true })
      expect(await shown(outsider, room, pollId)).toMatchObject({ options_detail: detail(1, 0, 1), is_active: false })
      const path = await outsider.rest(`GET /api/channels/${room.id}/polls`)
      expect(path.body).toMatchObject({ polls: [{ options: numbers, options_detail: detail(1, 0, 1) }] })
    }
  })
})

describe.each(over)('a vote over %s', (door) => {
  solo('is counted, moved and taken back; with many options each stands alone', async () => {
    const room = await channelOf(owner, member, other)
    const single = (await owner.does('rest', polls.create, { room, ...drinks })).poll.id
    const vote = (who: Person, pollId: string, optionIndex: number) =>
      who.does(door, polls.vote, { room, pollId, optionIndex })
    expect(await vote(member, single, 0)).toMatchObject({ action: 'added', poll: { user_votes: [0], total_votes: 1 } })
    expect(await vote(member, single, 2)).toMatchObject({ action: 'added', poll: { user_votes: [2], total_votes: 1 } })
    expect(counts((await vote(other, single, 2)).poll)).toEqual([0, 0, 2])
    expect(await vote(member, single, 2)).toMatchObject({ action: 'removed', poll: { user_votes: [], total_votes: 1 } })
    const several = (await owner.does('rest', polls.create, { room, ...drinks, allowsMultiple: true })).poll.id
    await vote(member, several, 0)
    expect((await vote(member, several, 1)).poll).toMatchObject({ user_votes: [0, 1], total_votes: 2 })
    expect((await vote(member, several, 0)).poll).toMatchObject({ user_votes: [1], total_votes: 1 })
    const alias = await other.rest(`POST /api/channels/${room.id}/polls/${several}/vote`, { option_id: 'coffee' })
    expect(alias.body).toEqual({ success: true, action: 'added' })
    const poll = await shown(owner, room, several)
    expect(poll?.votes[1]?.voters.sort()).toEqual([member.account, other.account].sort())
  })

  solo('that says what was read counts for nothing else', async () => {
    const room = await channelOf(owner, member)
    const { poll } = await owner.does('rest', polls.create, { room, ...drinks, isAnonymous: true })
    const about = { room, pollId: poll.id }
    const as_read = { question: drinks.question, option: 'water', is_anonymous: true }
    const vote = { ...about, optionIndex: 2, as_read }
    for (const change of [
      { question: 'What to pour away?' },
      { options: ['tea', 'coffee', 'wine'] },
      { options: ['tea', 'coffee'] },
      { isAnonymous: false },
    ]) {
      await owner.does('rest', polls.update, { ...about, ...change })
      expect(await member.refused(door, polls.vote, vote)).toMatchObject({ code: 'CONFLICT', status: 409 })
      await owner.does('rest', polls.update, { ...about, ...drinks, isAnonymous: true })
    }
    expect(await member.refused(door, polls.vote, { ...vote, optionIndex: 0 })).toMatchObject({ code: 'CONFLICT' })
    expect((await shown(member, room, poll.id))?.total_votes).toBe(0)
    expect(await member.does(door, polls.vote, vote)).toMatchObject({ action: 'added', poll: { user_votes: [2] } })
    const { is_anonymous: _, ...words } = as_read
    expect(await member.does(door, polls.vote, { ...vote, as_read: words })).toMatchObject({ action: 'removed' })
    expect(await member.does(door, polls.vote, { ...vote, as_read: null })).toMatchObject({ action: 'added' })
  })

  solo('N57: says who voted for what to who asks; not of an anonymous poll', async () => {
    const room = await channelOf(owner, member, other)
    const { poll } = await owner.does('rest', polls.create, { room, ...drinks, allowsMultiple: true })
    const vote = (who: Person, optionIndex: number, pollId = poll.id) =>
      who.does(door, polls.vote, { room, pollId, optionIndex })
    for (const index of [0, 2]) await vote(member, index)
    for (const index of [1, 1]) await vote(other, index)
    await member.does('rest', accounts.updateProfile, { display_name: 'Mia May' })
    const { voters } = await owner.does(door, polls.voters, { room, pollId: poll.id })
    expect(voters).toEqual([{ user_address: member.account, user_name: 'Mia May', options: [0, 2] }])
    const hidden = (await owner.does('rest', polls.create, { room, ...drinks, isAnonymous: true })).poll
    await vote(member, 0, hidden.id)
    expect(await owner.does(door, polls.voters, { room, pollId: hidden.id })).toEqual({ voters: [] })
    expect(await owner.refused(door, polls.voters, { room, pollId: noPoll })).toMatchObject({ code: 'NOT_FOUND' })
    const elsewhere = await channelOf(owner, member)
    expect(await owner.refused(door, polls.voters, { room: elsewhere, pollId: poll.id })).toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  solo('in an anonymous poll names nobody, to anybody', async () => {
    const room = await channelOf(owner, member)
    const { poll } = await owner.does('rest', polls.create, { room, ...drinks, isAnonymous: true })
    const line = await listenTo(owner, room, await owner.socket('/rooms'))
    const voted = await member.does(door, polls.vote, { room, pollId: poll.id, optionIndex: 1 })
    const told = await line.follows(room, ({ type }) => type === 'poll.changed')
    const { events } = await owner.does('rest', messages.sync, { room })
    for (const seen of [voted.poll, told.data, await shown(owner, room, poll.id), events.at(-1)?.data])
      expect(JSON.stringify(seen)).not.toContain(member.account)
    expect(JSON.stringify([told, events.at(-1)])).not.toContain(member.account)
  })

  solo('is refused for an unknown option, for a closed or ended poll, and from those who may not vote', async () => {
    const room = await channelOf(owner, member, other)
    const { poll } = await owner.does('rest', polls.create, { room, ...drinks })
    const vote = (who: Person, more: object = {}) =>
      who.refused(door, polls.vote, { room, pollId: poll.id, optionIndex: 0, ...more })
    expect(await vote(member, { optionIndex: 3 })).toMatchObject({ status: 400, message: 'Invalid option index' })
    expect((await vote(member, { optionIndex: undefined, option_id: 'wine' })).code).toBe('VALIDATION_ERROR')
    expect(await vote(member, { pollId: noPoll })).toMatchObject({ code: 'NOT_FOUND', status: 404 })
    for (const pollId of [poll.id, noPoll]) expect((await vote(outsider, { pollId })).code).toBe('NOT_A_MEMBER')
    expect((await vote(member, { room: nowhere })).status).toBe(404)
    await moderates(owner, { room, action: 'mute', target: member.account, duration: '1h' })
    expect((await vote(member)).code).toBe('MUTED')
    await moderates(owner, { room, action: 'ban', target: other.account, duration: '1h' })
    expect((await vote(other)).code).toBe('BANNED')
    expect((await other.refused('rest', polls.list, { room })).code).toBe('BANNED')
    await root.does('rest', accounts.suspend, { userAddress: outsider.account, ban: true })
    expect((await vote(outsider)).code).toBe('SUSPENDED')
    await root.does('rest', accounts.suspend, { userAddress: outsider.account, ban: false })
    const endsAt = new Date(Date.now() + 300).toISOString()
    const brief = await owner.does('rest', polls.create, { room, ...drinks, endsAt })
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect((await vote(owner, { pollId: brief.poll.id })).message).toBe('This poll has ended')
    await owner.does('rest', polls.update, { room, pollId: poll.id, isClosed: true })
    expect((await vote(owner)).message).toBe('This poll is closed')
    await owner.does('rest', rooms.archive, { room })
    expect((await vote(owner)).code).toBe('ROOM_ARCHIVED')
  })
})

test('twenty votes that cross are counted each once', async () => {
  const room = await channelOf(owner, root, member, other, outsider)
  const { poll } = await owner.does('rest', polls.create, { room, ...drinks, allowsMultiple: true })
  const voters = [root, member, other, outsider]
  await Promise.all(
    voters.flatMap((who) =>
      [0, 1, 2, 0, 1].map((optionIndex, at) =>
        who.does(at % 2 ? 'socket' : 'rest', polls.vote, { room, pollId: poll.id, optionIndex }),
      ),
    ),
  )
  const seen = await shown(member, room, poll.id)
  expect(seen && counts(seen)).toEqual([0, 0, 4])
  expect(seen?.votes.map(({ voters: names }) => names.length)).toEqual([0, 0, 4])
})

solo('a repeated vote over REST with one key is one vote', async () => {
  const room = await channelOf(owner, member)
  const { poll } = await owner.does('rest', polls.create, { room, ...drinks })
  for (const path of [`/api/rooms/channel/${room.id}`, `/api/channels/${room.id}`]) {
    const headers = { 'idempotency-key': `vote-${path.length}-key` }
    const vote = () => member.rest(`POST ${path}/polls/${poll.id}/vote`, { optionIndex: path.length % 2 }, headers)
    const [first, again] = [await vote(), await vote()]
    expect(again.body).toEqual(first.body)
    expect(first.body.action).toBe('added')
  }
  expect((await shown(member, room, poll.id))?.total_votes).toBe(1)
})

solo('a poll is changed and deleted by its author and by whoever may pin, with its message', async () => {
  const room = await groupOf(owner, member, other)
  const { poll, message } = await member.does('rest', polls.create, { room, ...drinks })
  const about = { room, pollId: poll.id }
  expect((await other.refused('rest', polls.update, { ...about, question: 'Mine?' })).code).toBe('FORBIDDEN')
  expect((await other.refused('rest', polls.remove, about)).code).toBe('FORBIDDEN')
  const changed = await member.rest(`PATCH /api/groups/${room.id}/polls/${poll.id}`, { question: 'Which drink?' })
  expect(changed.body).toMatchObject({ poll: { question: 'Which drink?', version: 2 } })
  expect((await owner.does('rest', polls.update, { ...about, isClosed: true })).poll.is_closed).toBe(true)
  expect((await owner.refused('rest', polls.update, { ...about, pollId: noPoll })).code).toBe('NOT_FOUND')
  expect((await owner.rest(`DELETE /api/groups/${room.id}/polls/${poll.id}`)).body).toEqual({ success: true })
  expect((await owner.refused('rest', polls.remove, about)).code).toBe('NOT_FOUND')
  expect((await member.does('rest', polls.list, { room })).polls).toEqual([])
  const history = await member.does('rest', messages.history, { room })
  expect(history.messages.find(({ id }) => id === message.id)).toMatchObject({ is_deleted: true })
  const { events } = await member.does('rest', messages.sync, { room })
  expect(JSON.stringify(events.filter(({ type }) => type === 'message.created'))).not.toContain('drink?')
})

solo.each(over)(
  'N25: another question is an edit of the message that asks, for all who read, over %s',
  async (door) => {
    const room = await groupOf(owner, member, other)
    await moderates(owner, { room, action: 'word_add', patch: { word: 'juice', word_action: 'flag' } })
    const line = await listenTo(other, room)
    const { poll, message } = await member.does('rest', polls.create, { room, ...drinks })
    const reply = await other.does(door, messages.send, { room, text: 'water', reply_to: message.id })
    expect(reply.message.reply_to?.content).toContain(drinks.question)
    await member.does('rest', polls.update, { room, pollId: poll.id, question: 'Which juice?' })
    const told = await line.follows(room, ({ type }) => type === 'poll.changed')
    expect(told.data).toMatchObject({ message: { id: message.id, version: 2, is_edited: true } })
    const history = await other.does(door, messages.history, { room })
    const asking = history.messages.find(({ id }) => id === message.id)
    expect(asking).toMatchObject({ content: '[POLL]Which juice?', is_edited: true, version: 2 })
    const answer = history.messages.find(({ id }) => id === reply.message.id)
    expect(answer?.reply_to?.content).toBe('[POLL]Which juice?')
    const { events } = await other.does(door, messages.sync, { room })
    expect(events.find(({ type }) => type === 'poll.changed')?.data).toMatchObject({ message: { version: 2 } })
    const found = async (query: string) =>
      (await other.does(door, messages.search, { room, query })).messages.map(({ id }) => id)
    expect([await found('juice'), await found('drink')]).toEqual([[message.id], []])
    const { queue } = await owner.does('socket', moderation.queue, { scope: 'room', room })
    expect(JSON.stringify(queue)).toContain(message.id)
  },
)

solo.each(over)('N25: the message of a poll says what its poll asks, over %s', async (door) => {
  const room = await groupOf(owner, member, other)
  const { poll, message } = await member.does('rest', polls.create, { room, ...drinks })
  await member.does('rest', polls.update, { room, pollId: poll.id, question: 'Which juice?' })
  const { events } = await other.does(door, messages.sync, { room })
  const asked = events.find(({ data }) => 'message' in data && data.message?.id === message.id)
  expect(asked?.data).toMatchObject({ message: { content: '[POLL]Which juice?' }, poll: { question: 'Which juice?' } })
  for (const text of ['[POLL]Which tea?', 'No poll any more'])
    expect(await member.refused(door, messages.edit, { room, id: message.id, text })).toMatchObject({
      code: 'INVALID_PARAMETER',
      status: 400,
    })
  expect((await member.does('rest', polls.list, { room })).polls[0]?.question).toBe('Which juice?')
  const past = { room, pollId: poll.id, endsAt: '2001-01-01T00:00:00.000Z' }
  expect(await member.refused('rest', polls.update, past)).toMatchObject({ code: 'VALIDATION_ERROR' })
})

solo('N25: the same question again, and a vote, edit nothing', async () => {
  const room = await groupOf(owner, member, other)
  const { poll, message } = await member.does('rest', polls.create, { room, ...drinks })
  const about = { room, pollId: poll.id }
  await member.does('rest', polls.update, { ...about, question: drinks.question })
  await other.does('rest', polls.vote, { ...about, optionIndex: 0 })
  const { messages: read } = await other.does('rest', messages.history, { room })
  expect(read.find(({ id }) => id === message.id)).toMatchObject({ version: 1, is_edited: false })
})

test('while nobody has voted, its options and how it is voted in may be others', async () => {
  const room = await groupOf(owner, member, other)
  const line = await listenTo(other, room)
  const { poll, message } = await member.does('rest', polls.create, { room, ...drinks })
  const path = `PATCH /api/groups/${room.id}/polls/${poll.id}`
  const anew = { options: ['juice', 'milk'], allowsMultiple: true, isAnonymous: true }
  const ends = '2999-01-01T00:00:00Z'
  expect((await other.rest(path, anew)).status).toBe(403)
  const changed = await member.rest(path, { ...anew, ends_at: ends })
  const asked = { options: anew.options, allows_multiple: true, is_anonymous: true, ends_at: ends, version: 2 }
  expect(changed.body).toMatchObject({ poll: { ...asked, question: drinks.question, votes: [{}, {}] } })
  const told = await line.follows(room, ({ type }) => type === 'poll.changed')
  expect(told.data).toMatchObject({ poll: asked, message: { id: message.id, version: 2, is_edited: true } })
  const { events } = await other.does('rest', messages.sync, { room })
  const created = events.find(({ type }) => type === 'message.created')
  expect(created?.data).toMatchObject({ poll: { options: anew.options, allows_multiple: true, is_anonymous: true } })
  for (const optionIndex of [0, 1]) await other.does('rest', polls.vote, { room, pollId: poll.id, optionIndex })
  expect((await shown(other, room, poll.id))?.user_votes).toEqual([0, 1])
})

test.each([
  ['options', ['tea', 'coffee']],
  ['allowsMultiple', true],
  ['isAnonymous', true],
])('once somebody has voted, %s stays', async (name, value) => {
  const room = await groupOf(owner, member)
  const { poll } = await owner.does('rest', polls.create, { room, ...drinks })
  const about = { room, pollId: poll.id }
  await member.does('rest', polls.vote, { ...about, optionIndex: 2 })
  expect(await owner.refused('rest', polls.update, { ...about, [name]: value })).toMatchObject({
    code: 'VALIDATION_ERROR',
    message: 'Somebody has voted: options, allowsMultiple and isAnonymous stay as they are',
  })
  const same = { options, allowsMultiple: false, isAnonymous: null, isClosed: true, ends_at: null }
  expect((await owner.does('rest', polls.update, { ...about, ...same })).poll).toMatchObject({
    is_closed: true,
    options,
  })
  await owner.does('rest', polls.update, { ...about, isClosed: false })
  await member.does('rest', polls.vote, { ...about, optionIndex: 2 })
  expect((await owner.does('rest', polls.update, { ...about, [name]: value })).poll.version).toBe(6)
})

test('other options of a poll are judged like a message, and differ from one another', async () => {
  const room = await groupOf(owner, member)
  await moderates(owner, { room, action: 'word_add', patch: { word: 'juice' } })
  const { poll } = await member.does('rest', polls.create, { room, ...drinks })
  const change = (given: string[]) => member.refused('rest', polls.update, { room, pollId: poll.id, options: given })
  expect((await change(['tea', 'juice'])).code).toBe('BLOCKED_WORD')
  for (const given of [['tea', 'tea'], ['tea'], Array.from({ length: 11 }, (_, at) => `${at}`)])
    expect((await change(given)).code).toBe('VALIDATION_ERROR')
  expect((await shown(member, room, poll.id))?.options).toEqual(options)
})

const takings: [string, (room: RoomRef, poll: Poll) => Promise<unknown>][] = [
  ['its own deletion', (room, { id }) => member.does('rest', polls.remove, { room, pollId: id })],
  ['its message’s deletion', (room, { message_id: id }) => member.does('rest', messages.remove, { room, id })],
  ['a purge of its author', (room) => moderates(owner, { room, action: 'purge', target: member.account })],
]
solo.each(takings)('%s takes the words of a poll from everywhere', async (_by, takeBack) => {
  const room = await groupOf(owner, member, other)
  const secret = 'Where is the key?'
  const cid = crypto.randomUUID()
  const asked = { room, question: secret, options: ['under the mat', 'on the hook'], client_msg_id: cid }
  const { poll } = await member.does('socket', polls.create, asked)
  const kept = await owner.does('rest', polls.create, { room, ...drinks })
  await other.does('rest', polls.vote, { room, pollId: poll.id, optionIndex: 1 })
  await member.does('rest', polls.update, { room, pollId: poll.id, question: 'Where is the other key?' })
  await other.does('rest', polls.vote, { room, pollId: kept.poll.id, optionIndex: 1 })
  await takeBack(room, poll)
  const words = /key\?|the mat|the hook/
  const key = roomKey(room)
  const stored = [await RoomEvents.find({ room: key }).lean(), await Polls.find({ room: key }).lean()]
  expect(JSON.stringify(stored)).not.toMatch(words)
  for (const who of [member, other]) {
    const { polls: listed } = await who.does('rest', polls.list, { room })
    expect(listed.map(({ id }) => id)).toEqual([kept.poll.id])
    const { events } = await who.does('rest', messages.sync, { room })
    const history = await who.does('rest', messages.history, { room })
    expect(JSON.stringify([events, history])).not.toMatch(words)
    expect(events.filter(({ type }) => type === 'poll.changed')).toHaveLength(3)
    expect(await who.refused('rest', polls.vote, { room, pollId: poll.id, optionIndex: 0 })).toMatchObject({
      code: 'NOT_FOUND',
    })
  }
  const again = await member.does('socket', polls.create, asked)
  expect(again).toMatchObject({ poll: { id: poll.id, question: '', options: [] }, message: { is_deleted: true } })
  const shownStill = await shown(member, room, kept.poll.id)
  expect(shownStill).toMatchObject({ ...drinks, total_votes: 1 })
})

solo('in alpha every member may ask, under its own path', async () => {
  const asked = await member.rest('POST /api/alpha/polls', { ...drinks, ends_at: '2999-01-01T00:00:00Z' })
  expect(asked.body).toMatchObject({ poll: { channel_id: null, group_id: null, ends_at: '2999-01-01T00:00:00Z' } })
  expect((await other.rest('GET /api/alpha/polls')).body).toMatchObject({ canCreatePoll: true })
})

solo('a direct conversation has no polls, as nothing in it is to be read by the server', async () => {
  const { room } = await owner.does('rest', rooms.openDm, { recipientAddress: member.account })
  const ref = { type: 'dm', id: room.id } as const
  for (const door of over)
    expect(
      await owner.refused(door, polls.create, { room: ref, question: 'Tea?', options: ['Yes', 'No'] }),
    ).toMatchObject({
      code: 'VALIDATION_ERROR',
    })
})
