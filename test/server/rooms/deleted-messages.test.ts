// Modes: embedded
import { expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { channelOf, moderates, over, type Person, say } from '#test/support/people'

const { owner, author, member } = await bootWith(['owner', 'author', 'member'])

type Ending = [who: string, ends: (room: RoomRef, said: { id: string; poll: string; asks: string }) => Promise<unknown>]
const purged = (room: RoomRef, duration?: string) =>
  moderates(owner, { room, action: 'purge', target: author.account, ...(duration && { duration }) })
const endings: Ending[] = [
  [
    'their author has deleted',
    async (room, { id, poll }) => {
      await author.does('rest', messages.remove, { room, id })
      await author.does('rest', polls.remove, { room, pollId: poll })
    },
  ],
  [
    'a moderator has deleted',
    async (room, { id, asks }) => {
      await moderates(owner, { room, action: 'delete', message_id: id })
      await moderates(owner, { room, action: 'delete', message_id: asks })
    },
  ],
  ['a purge has taken', (room) => purged(room)],
  ['a purge of the last hour has taken', (room) => purged(room, '1h')],
]

test.each(endings.flatMap(([who, ends]) => over.map((door) => [who, door, ends] as const)))(
  'N88: nobody is named as who reacted to or voted for what %s, over %s',
  async (_who, door, ends) => {
    const room = await channelOf(owner, author, member)
    const { id } = await say(author, room, 'to be taken back')
    const { id: kept } = await say(owner, room, 'to stay')
    const asked = await author.does('rest', polls.create, { room, question: 'Which?', options: ['this', 'that'] })
    const said = { id, poll: asked.poll.id, asks: asked.message.id }
    for (const one of [id, kept, said.asks]) await member.does('rest', messages.react, { room, id: one, emoji: '🎉' })
    await member.does('rest', polls.vote, { room, pollId: said.poll, optionIndex: 0 })
    const ids = [id, kept, said.asks, 'unknown'].join(',')
    const reacted = async (who: Person) =>
      (await who.does(door, messages.reactions, { room, messageIds: ids })).reactions.map((one) => one.message_id)
    expect((await reacted(author)).sort()).toEqual([id, kept, said.asks].sort())
    expect((await author.does(door, polls.voters, { room, pollId: said.poll })).voters).toHaveLength(1)
    await ends(room, said)
    for (const who of [author, owner, member]) {
      expect(await reacted(who)).toEqual([kept])
      expect(await who.refused(door, polls.voters, { room, pollId: said.poll })).toMatchObject({ code: 'NOT_FOUND' })
      const { reactions, reacted: own } = await who.does(door, messages.history, { room })
      expect(
        [...new Set([...reactions.map((one) => one.message_id), ...Object.keys(own)])].filter((one) => one !== kept),
      ).toEqual([])
      expect((await who.does('rest', polls.list, { room })).polls).toEqual([])
    }
  },
)
