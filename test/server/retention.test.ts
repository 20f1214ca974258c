// Modes: embedded, two-nodes, two-nodes-redis
import { describe, expect, test } from 'vitest'
import { removeMessages } from '#server/domains/rooms/messages/removals'
import { messages } from '#shared/api/messages'
import { moderation } from '#shared/api/moderation'
import { polls } from '#shared/api/polls'
import { roomKey } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { channelOf, listenTo, moderates, say } from '#test/support/people'
import { times } from '#test/support/times'

const { server, owner, author, member } = await bootWith(['owner', 'author', 'member'])
const node = () => {
  const [app] = server.apps
  if (!app) throw new Error('No node')
  return app.node
}

describe('messages that the server removes', () => {
  test('leave tombstones, as one that a person removes, and both nodes remove each once', async () => {
    const room = await channelOf(owner, author, member)
    const said = await Promise.all(times(60, (at) => say(author, room, `secret ${at}`)))
    const [first] = said
    if (!first) throw new Error('Nothing was said')
    const { poll, message } = await author.does('rest', polls.create, {
      room,
      question: 'secret?',
      options: ['a', 'b'],
    })
    const reply = await say(member, room, 'to stay', { reply_to: first.id })
    await moderates(owner, { room, action: 'pin', message_id: first.id })
    const line = await listenTo(member, room)
    const ids = [...said.map(({ id }) => id), message.id, 'unknown']
    const removed = await Promise.all(server.apps.map((app) => removeMessages(app.node, roomKey(room), ids)))
    expect(removed.reduce((sum, count) => sum + count.removed, 0)).toBe(61)
    expect(await removeMessages(node(), roomKey(room), ids)).toEqual({ removed: 0, stayed: [] })
    await line.follows(room, ({ data }) => 'id' in data && data.id === message.id)
    const told = line.log(room).filter(({ type }) => type === 'message.deleted')
    expect(told).toHaveLength(61)
    expect(told[0]).toMatchObject({ actor: { id: 'plaza' }, data: { deleted_by: 'plaza', reason: null } })
    const shown = await member.does('rest', messages.history, { room, limit: 100 })
    expect(shown.messages.filter((one) => !one.is_deleted)).toMatchObject([{ id: reply.id, reply_to: null }])
    expect(JSON.stringify(shown)).not.toContain('secret')
    expect((await member.does('rest', messages.pins, { room })).pinnedMessages).toEqual([])
    expect((await member.does('rest', messages.search, { room, query: 'secret' })).messages).toEqual([])
    expect(await member.refused('rest', polls.voters, { room, pollId: poll.id })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await owner.does('rest', moderation.verify, { channelId: room.id })).toMatchObject({ ok: true })
  })
})
