// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { houseAccount } from '#server/domains/accounts/accounts'
import { Rooms } from '#server/domains/room-state/model'
import { accounts } from '#shared/api/accounts'
import { inbox } from '#shared/api/inbox'
import { messages } from '#shared/api/messages'
import { social } from '#shared/api/social'
import type { CallOf } from '#shared/kit/contract'
import { conversationIdOf, dmOfConversation } from '#shared/kit/conversation-id'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { messageUnder, newKeyId } from '#test/support/direct'
import { listenTo, type Person, people, say, sealed } from '#test/support/people'
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
    const { messages: told } = await lists(one, { peer: houseAccount })
    expect(told.at(-1)).toMatchObject({ message_type: 'system', encrypted_content: 'Back at nine' })
    expect(told.at(-1)).toMatchObject({ sender_address: houseAccount, recipient_address: one.account })
    const answer = { recipientAddress: houseAccount, encryptedContent: sealed() }
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
