// Modes: embedded
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { ephemeral } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { conversationIdOf, dmOfConversation } from '#shared/kit/room-key'
import { bootWith } from '#test/support/boot-with'
import { messageUnder, newKeyId } from '#test/support/direct'
import { channelOf, groupOf, listenTo, type Person, people, say, sealed } from '#test/support/people'
import { call } from '#test/support/wallet'

let one: Person
let two: Person
let third: Person
let room: ReturnType<typeof dmOf>
let round = 0
const { server, root } = await bootWith(['root'], { superAdmins: ['root'] })
beforeEach(async () => {
  round += 1
  ;[one, two, third] = await people(server, `writes ${round}`, `answers ${round}`, `neither ${round}`)
  room = dmOf(one.account, two.account)
})

const stranger = `0x${'de'.repeat(20)}`
const conversation = () => `/plaza/1/dm/${[one.account, two.account].sort().join('-')}/proto`
/** Ciphertext of a length of its own, so that one message is told from another. */
const sends = async (bytes: number, more: Partial<CallOf<typeof messages.directSend>> = {}, [from, to] = [one, two]) =>
  (
    await from.does('rest', messages.directSend, {
      recipientAddress: to.account,
      encryptedContent: sealed(bytes),
      ...more,
    })
  ).message
const lists = (who: Person, named: CallOf<typeof messages.directHistory>) =>
  who.does('rest', messages.directHistory, named)
const codeOf = async (answer: ReturnType<Person['rest']>) => {
  const { status, code } = await answer
  return `${status} ${code}`
}
const suspend = (who: Person) => root.does('rest', accounts.suspend, { userAddress: who.account, ban: true })

describe('a conversation, by the documented path', () => {
  test('is listed oldest first, in rows of the documented shape, to both of its people', async () => {
    const said = await say(one, room, sealed(41), { client_msg_id: 'from-the-page' })
    await sends(42, { replyToId: said.id }, [two, one])
    await two.does('rest', messages.react, { room, id: said.id, emoji: '👍' })
    const listed = await lists(one, { peer: two.account.toUpperCase().replace('0X', '0x') })
    expect(listed.messages.map(({ encrypted_content }) => encrypted_content)).toEqual([sealed(41), sealed(42)])
    expect(listed.messages[0]).toEqual({
      ...{ message_id: said.id, seq: said.seq, client_msg_id: 'from-the-page', conversation_id: conversation() },
      ...{ sender_address: one.account, recipient_address: two.account, group_id: null, reply_to_id: null },
      ...{ encrypted_content: sealed(41), message_type: 'text', sent_at: said.created_at },
      ...{ is_edited: false, edited_at: null, is_deleted: false },
    })
    expect(listed.messages[1]).toMatchObject({
      ...{ sender_address: two.account, recipient_address: one.account, reply_to_id: said.id },
    })
    expect(listed.reactions).toEqual([
      {
        ...{ message_id: said.id, conversation_id: conversation(), user_address: two.account, emoji: '👍' },
        created_at: expect.any(String),
      },
    ])
    expect(listed.hasMore).toBe(false)
    const { previews } = await two.does('rest', inbox.directPreviews, {})
    expect(previews[0]?.conversation_id).toBe(conversation())
    const named = { conversationId: conversation(), userAddress: two.account }
    expect(await lists(two, named)).toEqual(listed)
    expect(await lists(two, { ...named, peer: one.account })).toEqual(listed)
  })

  test('is read in pages of 50, at most 100, by seq or by time', async () => {
    await Promise.all(Array.from({ length: 101 }, (_, at) => sends(40 + at)))
    const peer = two.account
    const all = await lists(one, { peer, limit: 100_000 })
    expect([all.messages.length, all.hasMore]).toEqual([100, true])
    const usual = await lists(one, { peer })
    expect(usual.messages).toEqual(all.messages.slice(50))
    const before = await lists(one, { peer, before_seq: usual.messages[0]?.seq })
    expect(before.messages).toEqual(all.messages.slice(0, 50))
    const first = await lists(one, { peer, before_seq: before.messages[0]?.seq })
    expect([first.messages.length, first.hasMore]).toEqual([1, false])
    const newest = all.messages.at(-1)?.sent_at
    const earlier = all.messages.filter(({ sent_at }) => sent_at < (newest ?? ''))
    expect((await lists(one, { peer, before: newest, limit: 5 })).messages).toEqual(earlier.slice(-5))
    const none = await lists(one, { peer, before: '2000-01-01T00:00:00Z' })
    expect(none).toEqual({ messages: [], reactions: [], hasMore: false })
  })

  test('shows nothing of what was deleted', async () => {
    const { message_id } = await sends(43)
    await sends(44, { replyToId: message_id }, [two, one])
    await one.rest('POST /api/messages/delete', { messageId: message_id })
    const { messages: left } = await lists(two, { peer: one.account })
    expect(left).toMatchObject([
      { message_id, encrypted_content: '[Message deleted]', is_deleted: true },
      { encrypted_content: sealed(44), reply_to_id: null, is_deleted: false },
    ])
    expect(JSON.stringify(left)).not.toContain(sealed(43))
  })

  test('in which nobody has written is empty, and stays unopened', async () => {
    for (const named of [{ peer: two.account }, { conversationId: conversation() }])
      expect(await lists(one, named)).toEqual({ messages: [], reactions: [], hasMore: false })
    expect(await Rooms.exists({ _id: roomKey(room) })).toBeNull()
  })

  test('is that of the caller alone, and of two accounts', async () => {
    await sends(45)
    const asks = (query: object, who = third) =>
      codeOf(who.rest(`GET /api/messages?${new URLSearchParams(query as Record<string, string>)}`))
    for (const conversationId of [conversation(), conversation().replace('/dm/', '/group/'), '/plaza/1/dm/-/proto'])
      expect([conversationId, await asks({ conversationId })]).toEqual([conversationId, '404 ROOM_NOT_FOUND'])
    expect(await asks({ conversationId: conversation(), userAddress: one.account })).toBe('403 FORBIDDEN')
    expect(await asks({ peer: stranger }, one)).toBe('404 ROOM_NOT_FOUND')
    expect(await asks({ peer: one.account }, one)).toBe('404 ROOM_NOT_FOUND')
    expect(await asks({ peer: third.account, conversationId: conversation() }, one)).toBe('400 VALIDATION_ERROR')
    for (const query of [
      {},
      { peer: '', conversationId: '' },
      { peer: `${one.account}~${two.account}` },
      { conversationId: room.id },
      { conversationId: `${conversation()}/../x` },
      { conversationId: conversation().replace('plaza', 'other') },
      { peer: two.account, limit: '0' },
      { peer: two.account, before: 'yesterday' },
    ])
      expect([query, await asks(query, one)]).toEqual([query, '400 VALIDATION_ERROR'])
    const twice = one.rest(`GET /api/messages?peer=${two.account}&peer=${third.account}`)
    expect(await codeOf(twice)).toBe('400 VALIDATION_ERROR')
    expect((await call(server.url, `GET /api/messages?peer=${two.account}`)).status).toBe(401)
  })

  test('has an id that leads back to it, also where ids of accounts have hyphens', () => {
    for (const [a, b] of [
      ['0xab', '0xcd'],
      ['bot:a-b', 'bot:a'],
      ['a', 'a-a'],
      ['a-b', 'b-a'],
    ] as const)
      for (const own of [a, b]) expect(dmOfConversation(conversationIdOf(dmOf(a, b)), own)).toEqual(dmOf(a, b))
    expect(dmOfConversation(conversationIdOf(dmOf('a', 'b')), 'c')).toBeNull()
    expect(dmOfConversation(conversationIdOf(dmOf('a', 'b-c')), 'b')).toBeNull()
  })

  test('with Plaza itself is in clear, and answered by nobody', async () => {
    await root.rest('POST /api/admin/broadcast', { message: 'Back at nine', target: 'all_users' })
    const { messages: told } = await lists(one, { peer: plazaAccount })
    expect(told.at(-1)).toMatchObject({ message_type: 'system', encrypted_content: 'Back at nine' })
    expect(told.at(-1)).toMatchObject({ sender_address: plazaAccount, recipient_address: one.account })
    const answer = { recipientAddress: plazaAccount, encryptedContent: sealed() }
    expect(await one.refused('rest', messages.directSend, answer)).toMatchObject({ status: 403, code: 'READ_ONLY' })
  })
})

describe('a direct message, by the documented path', () => {
  test('is told to who listens, and is the same by every path', async () => {
    const line = await listenTo(two, room)
    const sent = await one.rest('POST /api/messages', {
      ...{ recipientAddress: two.account, encryptedContent: sealed(46), messageType: 'pixel_art' },
      ...{ senderAddress: one.account, messageId: `${1_790_000_000_000 + round}-ab12cd`, content: null, replyToId: '' },
    })
    expect(sent).toMatchObject({ status: 200, body: { success: true } })
    expect(sent.body).not.toHaveProperty('duplicate')
    const told = await line.follows(room, ({ type }) => type === 'message.created')
    const { messages: listed } = await two.does('rest', messages.history, { room })
    expect(told.data).toMatchObject({ message: listed[0] as object })
    expect(sent.body.message).toMatchObject({
      ...{ message_id: listed[0]?.id, encrypted_content: listed[0]?.content, message_type: 'pixel_art' },
      client_msg_id: `${1_790_000_000_000 + round}-ab12cd`,
    })
    expect((await lists(two, { peer: one.account })).messages).toEqual([sent.body.message])
  })

  test('with the same `messageId` is stored once, by whichever path it is sent again', async () => {
    const to = { recipientAddress: two.account, messageId: 'once' }
    const sent = await one.does('rest', messages.directSend, { ...to, encryptedContent: sealed(47) })
    const again = await one.does('rest', messages.directSend, { ...to, content: sealed(48) })
    expect(again).toEqual({ ...sent, duplicate: true })
    const key = { 'idempotency-key': 'once' }
    const keyed = { recipientAddress: two.account, content: sealed(49) }
    expect((await one.rest('POST /api/messages', keyed, key)).body).toEqual({ ...sent, duplicate: true })
    const over = await one.does('socket', messages.send, { room, text: sealed(50), client_msg_id: 'once' })
    expect(over).toMatchObject({ duplicate: true, message: { id: sent.message.message_id } })
    expect(await codeOf(one.rest('POST /api/messages', { ...to, content: sealed() }, { 'idempotency-key': 'b' }))).toBe(
      '400 VALIDATION_ERROR',
    )
    // The key is of its sender and of the conversation.
    for (const pair of [
      [two, one],
      [one, third],
    ])
      expect((await sends(51, { messageId: 'once' }, pair as [Person, Person])).message_id).not.toBe(
        sent.message.message_id,
      )
    expect((await lists(one, { peer: two.account })).messages).toHaveLength(2)
  })

  test('is refused as over every other door, for the same reason', async () => {
    const elsewhere = await say(one, dmOf(one.account, third.account), sealed())
    const deleted = await say(one, room, sealed())
    await one.does('rest', messages.remove, { room, id: deleted.id })
    const told = async (said: object, to = two.account) => {
      const others = { room: dmOf(one.account, to), ...said }
      const direct = { recipientAddress: to, ...said } as CallOf<typeof messages.directSend>
      const [first, ...rest] = [
        await one.refused('socket', messages.send, others),
        await one.refused('rest', messages.send, others),
        await one.refused('rest', messages.directSend, direct),
      ]
      for (const other of rest) expect(other).toEqual(first)
      return `${first?.status} ${first?.code}`
    }
    const content = sealed(52)
    for (const [said, refusal] of [
      [{ content: 'in plain words' }, '400 VALIDATION_ERROR'],
      [{}, '400 VALIDATION_ERROR'],
      [{ content, messageType: 'system' }, '400 VALIDATION_ERROR'],
      [{ content: messageUnder(newKeyId()) }, '400 VALIDATION_ERROR'],
      [{ content, replyToId: elsewhere.id }, '400 VALIDATION_ERROR'],
      [{ content, replyToId: deleted.id }, '400 VALIDATION_ERROR'],
      [{ content, blobs: [`${third.account}/of-somebody-else`] }, '400 INVALID_PARAMETER'],
    ] as const)
      expect([said, await told(said)]).toEqual([said, refusal])
    expect(await told({ content }, stranger)).toBe('404 ROOM_NOT_FOUND')
    expect(await told({ content }, one.account)).toBe('404 ROOM_NOT_FOUND')
    await one.does('rest', social.block, { userAddress: two.account })
    expect(await told({ content })).toBe('403 BLOCKED')
    await one.does('rest', social.unblock, { userAddress: two.account })
    await two.does('rest', social.block, { userAddress: one.account })
    expect(await told({ content })).toBe('403 BLOCKED')
    await suspend(one)
    expect(await told({ content })).toBe('403 SUSPENDED')
    expect(await told({ content }, third.account)).toBe('403 SUSPENDED')
    const { messages: left } = await lists(two, { peer: one.account })
    expect(left).toHaveLength(1)
  })

  test('is said once, and by the caller', async () => {
    const to = { recipientAddress: two.account, encryptedContent: sealed(53) }
    const sent = (more: object, headers = {}) => codeOf(one.rest('POST /api/messages', { ...to, ...more }, headers))
    expect(await sent({ content: sealed(54) })).toBe('400 VALIDATION_ERROR')
    expect(await sent({ senderAddress: third.account })).toBe('403 FORBIDDEN')
    for (const wrong of [
      { recipientAddress: null },
      { recipientAddress: '' },
      { recipientAddress: [two.account] },
      { recipientAddress: `${two.account}~${third.account}` },
      { encryptedContent: { $ne: null } },
      { encryptedContent: 7 },
      { messageType: 'broadcast' },
      { messageId: 'with space' },
      { replyToId: '../x' },
      { blobs: 'x' },
    ])
      expect([wrong, await sent(wrong)]).toEqual([wrong, '400 VALIDATION_ERROR'])
    expect((await call(server.url, 'POST /api/messages', to)).status).toBe(401)
    expect(await sent({ content: sealed(53), messageId: '' })).toBe('200 null')
    expect((await lists(two, { peer: one.account })).messages).toHaveLength(1)
  })
})

describe('what becomes of a direct message, by the documented paths', () => {
  const path = (id: string, more = '') => `/api/messages/${id}${more}`

  test('its author edits it within 15 minutes, and nobody else does', async () => {
    const { message_id: id, seq } = await sends(55)
    const edited = await one.rest(`PATCH ${path(id)}`, { encryptedContent: sealed(56), client_action_id: 'edit-1' })
    expect(edited.body).toEqual({
      success: true,
      message: expect.objectContaining({
        ...{ message_id: id, seq, encrypted_content: sealed(56), is_edited: true, edited_at: expect.any(String) },
      }),
    })
    const again = await one.rest(`PATCH ${path(id)}`, { content: sealed(57), client_action_id: 'edit-1' })
    expect(again.body).toEqual(edited.body)
    const over = await one.does('socket', messages.edit, { room, id, text: sealed(58) })
    expect((await lists(two, { peer: one.account })).messages).toMatchObject([{ encrypted_content: sealed(58) }])
    expect(over.message.version).toBe(3)
    const edits = (who: Person, said: object = { content: sealed(59) }) => codeOf(who.rest(`PATCH ${path(id)}`, said))
    expect(await edits(two)).toBe('403 FORBIDDEN')
    expect(await edits(third)).toBe('404 MESSAGE_NOT_FOUND')
    expect(await edits(one, { content: 'in plain words' })).toBe('400 VALIDATION_ERROR')
    expect(await edits(one, { content: sealed(1), encryptedContent: sealed(2) })).toBe('400 VALIDATION_ERROR')
    expect(await edits(one, {})).toBe('400 VALIDATION_ERROR')
    expect(await edits(one, { content: sealed(), userAddress: two.account })).toBe('403 FORBIDDEN')
    expect((await call(server.url, `PATCH ${path(id)}`, { content: sealed() })).status).toBe(401)
    await two.does('rest', social.block, { userAddress: one.account })
    expect(await edits(one)).toBe('403 BLOCKED')
    await two.does('rest', social.unblock, { userAddress: one.account })
    onTestFinished(() => server.setAhead(0))
    server.setAhead(901)
    expect((await one.rest(`PATCH ${path(id)}`, { content: sealed() })).code).toBe('EDIT_WINDOW_CLOSED')
    server.setAhead(0)
    await one.rest('POST /api/messages/delete', { messageId: id })
    expect(await edits(one)).toBe('404 MESSAGE_NOT_FOUND')
    expect((await lists(two, { peer: one.account })).messages).toMatchObject([{ is_deleted: true }])
  })

  test('a reaction is put on it and taken off by either of the two', async () => {
    const { message_id: id } = await sends(60)
    const reacts = (who: Person, more: object = {}, emoji = '🎉') =>
      who.rest(`POST ${path(id, '/reactions')}`, { emoji, on: null, ...more })
    const answers = (action: string, counts: object) => ({ success: true, action, counts })
    expect((await reacts(two)).body).toEqual(answers('added', { '🎉': 1 }))
    expect((await reacts(one, { client_action_id: 'party' })).body).toEqual(answers('added', { '🎉': 2 }))
    expect((await reacts(one, { client_action_id: 'party' })).body).toEqual(answers('added', { '🎉': 2 }))
    expect((await reacts(two)).body).toEqual(answers('removed', { '🎉': 1 }))
    for (let twice = 0; twice < 2; twice++)
      expect((await reacts(one, { on: true })).body).toEqual(answers('added', { '🎉': 1 }))
    const { reactions } = await lists(two, { peer: one.account })
    expect(reactions).toMatchObject([{ message_id: id, user_address: one.account, emoji: '🎉' }])
    expect(await codeOf(reacts(third))).toBe('404 MESSAGE_NOT_FOUND')
    for (const emoji of ['', 'a'.repeat(33), '__proto__', '$set'])
      expect([emoji, await codeOf(reacts(one, {}, emoji))]).toEqual([emoji, '400 VALIDATION_ERROR'])
    expect(await codeOf(reacts(one, { userAddress: two.account }))).toBe('403 FORBIDDEN')
    expect((await call(server.url, `POST ${path(id, '/reactions')}`, { emoji: '🎉' })).status).toBe(401)
    await one.does('rest', social.block, { userAddress: two.account })
    expect(await codeOf(reacts(two))).toBe('403 BLOCKED')
  })

  test('messages of other rooms are not there, whoever asks', async () => {
    const [channel, group] = [await channelOf(one, two), await groupOf(one)]
    const ids = [(await say(one, channel, 'In a channel')).id, (await say(one, group, 'In a group')).id, 'nothing']
    for (const id of ids)
      for (const who of [one, third]) {
        expect(await codeOf(who.rest(`PATCH ${path(id)}`, { content: sealed() }))).toBe('404 MESSAGE_NOT_FOUND')
        const reacts = who.rest(`POST ${path(id, '/reactions')}`, { emoji: '🎉' })
        expect(await codeOf(reacts)).toBe('404 MESSAGE_NOT_FOUND')
      }
  })

  test('it is read, and what was read before stays so', async () => {
    const [first, second] = [await sends(61), await sends(62), await sends(63)]
    const unread = async () => {
      const { rooms } = await two.does('rest', inbox.list, {})
      return rooms.find(({ id }) => id === room.id)?.unread
    }
    const reads = (body: object, who = two) => who.rest('POST /api/messages/read', body)
    expect(await unread()).toBe(3)
    expect((await reads({ peer: one.account, messageId: first.message_id })).body).toEqual({ success: true })
    expect(await unread()).toBe(2)
    expect((await reads({ messageId: second.message_id, peer: null })).body).toEqual({ success: true })
    expect(await unread()).toBe(1)
    expect((await reads({ conversationId: conversation(), messageId: null })).body).toEqual({ success: true })
    expect(await unread()).toBe(0)
    expect((await reads({ peer: one.account, messageId: first.message_id })).status).toBe(200)
    expect(await unread()).toBe(0)
    const elsewhere = await sends(64, {}, [one, third])
    for (const messageId of [elsewhere.message_id, 'nothing'])
      for (const named of [{ peer: one.account }, {}])
        expect(await codeOf(reads({ ...named, messageId }))).toBe('404 MESSAGE_NOT_FOUND')
    expect(await codeOf(reads({ conversationId: conversation() }, third))).toBe('404 ROOM_NOT_FOUND')
    expect(await codeOf(reads({ peer: stranger }))).toBe('404 ROOM_NOT_FOUND')
    expect(await codeOf(reads({}))).toBe('400 VALIDATION_ERROR')
    expect(await codeOf(reads({ peer: one.account, userAddress: one.account }))).toBe('403 FORBIDDEN')
    expect((await call(server.url, 'POST /api/messages/read', { peer: one.account })).status).toBe(401)
  })

  test('who types is told to the other, and to nobody whom they have blocked', async () => {
    const line = await listenTo(two, room)
    const types = (body: object, who = one) => who.rest('POST /api/messages/typing', body)
    const isToldTyping = (is: boolean) =>
      line.hears(ephemeral, ({ typing }) => typing.some(({ id }) => id === one.account) === is)
    expect((await types({ peer: two.account, isTyping: null })).body).toEqual({ success: true })
    await isToldTyping(true)
    line.forget()
    expect((await types({ conversationId: conversation(), isTyping: false })).body).toEqual({ success: true })
    await isToldTyping(false)
    expect(await codeOf(types({ conversationId: conversation() }, third))).toBe('404 ROOM_NOT_FOUND')
    expect(await codeOf(types({ peer: stranger }))).toBe('404 ROOM_NOT_FOUND')
    expect(await codeOf(types({ peer: two.account, isTyping: 'yes' }))).toBe('400 VALIDATION_ERROR')
    expect(await codeOf(types({}))).toBe('400 VALIDATION_ERROR')
    expect((await call(server.url, 'POST /api/messages/typing', { peer: two.account })).status).toBe(401)
    await two.does('rest', social.block, { userAddress: one.account })
    expect(await codeOf(types({ peer: two.account }))).toBe('403 BLOCKED')
  })

  test('who is suspended changes nothing, and reads on', async () => {
    const sent = await sends(65, { messageId: 'said-before' })
    const { message_id: id } = sent
    await suspend(one)
    expect(await codeOf(one.rest(`PATCH ${path(id)}`, { content: sealed() }))).toBe('403 SUSPENDED')
    expect(await codeOf(one.rest(`POST ${path(id, '/reactions')}`, { emoji: '🎉' }))).toBe('403 SUSPENDED')
    expect(await codeOf(one.rest('POST /api/messages/typing', { peer: two.account }))).toBe('403 SUSPENDED')
    expect((await one.rest('POST /api/messages/read', { peer: two.account })).body).toEqual({ success: true })
    expect((await lists(one, { peer: two.account })).messages).toEqual([sent])
    expect(await sends(66, { messageId: 'said-before' })).toEqual(sent)
  })
})
