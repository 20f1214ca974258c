// Modes: embedded, two-nodes-redis
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { Accounts } from '#server/domains/people/accounts/model'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { social } from '#shared/api/moderation/social'
import { friends } from '#shared/api/people/friends'
import { points } from '#shared/api/people/points'
import { serviceTokens } from '#shared/api/people/service-tokens'
import { broadcasts } from '#shared/api/platform/broadcasts'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { clientOf, conversationOf, shows } from '#test/support/direct-clients'
import { signInByEmail } from '#test/support/letters'
import {
  alpha,
  befriend,
  channelOf,
  groupOf,
  outcomeOf,
  over,
  type Person,
  people,
  person,
  sealed,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, signIn, wallet } from '#test/support/wallet'

const words = 'Good that **you** are here'
const environment = { SUPER_ADMINS: wallet('lets people in').address }

let server: Booted
let admin: Person
let round = 0
const fresh = (name: string) => `${name} ${++round}`
const accountFor = (name: string) => wallet(name).address.toLowerCase()
const withPlaza = (account: string) => dmOf(account, plazaAccount)

/** All that Plaza has told somebody. */
const toldTo = async (who: Person) =>
  (await who.does('rest', messages.directHistory, { peer: plazaAccount })).messages.map(
    ({ message_type, encrypted_content }) => [message_type, encrypted_content],
  )
const friendsOf = async (who: Person) =>
  (await who.does('rest', friends.list, {})).friends.map(({ friend_address }) => friend_address)
/** As it is where the process ended once somebody was told, before that was noted. */
const isDueAgain = (account: string) => Accounts.updateOne({ _id: account }, { $set: { welcome_due: true } })

/** Has another way to do what is done in this person's conversation with Plaza. */
function inConversation(account: string, does: (act: () => Promise<unknown>) => Promise<unknown>) {
  const room = roomKey(withPlaza(account))
  for (const { node } of server.apps) {
    const act = node.log.act
    const instead = (key: string, given: never) => (key === room ? does(() => act(key, given)) : act(key, given))
    vi.spyOn(node.log, 'act').mockImplementation(instead as never)
  }
}
const failsIn = (account: string) => inConversation(account, () => Promise.reject(new Error('It is damaged')))
afterEach(() => void vi.restoreAllMocks())

describe('a welcome', () => {
  beforeAll(async () => {
    server = await boot({ entry: 'through the door', environment: { ...environment, WELCOME_MESSAGE: ` ${words}\n` } })
    admin = await person(server, 'lets people in')
  })
  afterAll(() => server.close())

  test.each(over)('is told by Plaza to who is new, in clear, and read over %s', async (door) => {
    const ada = await person(server, fresh('ada'))
    const room = withPlaza(ada.account)
    const { messages: told } = await ada.does(door, messages.history, { room })
    expect(told).toMatchObject([
      { content: words, message_type: 'welcome', sender_address: plazaAccount, sender: { name: 'Plaza' } },
    ])
    const { rooms: listed } = await ada.does(door, inbox.list, {})
    expect(listed.find(({ id }) => id === room.id)).toMatchObject({
      ...{ unread: 1, mentions: 0, peer: { name: 'Plaza' } },
      last_message: { sender_address: plazaAccount, preview: 'Good that you are here' },
    })
    const { previews } = await ada.does('rest', inbox.directPreviews, {})
    expect(previews).toMatchObject([{ content: words, message_type: 'welcome', peer_address: plazaAccount }])
    expect(await ada.refused(door, messages.send, { room, text: sealed() })).toMatchObject({ code: 'READ_ONLY' })
  })

  solo('is shown by clients as what it is: in clear, and no secret', async () => {
    const ada = await clientOf(server, fresh('reads'))
    const conversation = conversationOf(ada, { account: plazaAccount })
    await shows(conversation, words)
    expect(conversation.state.messages[0]?.secrecy).toMatchObject({ state: 'clear', isSecret: false })
    ada.close()
  })

  test('is told once, also to who signs in on every node at the same moment, and later again', async () => {
    const name = fresh('twice')
    await Promise.all([...server.urls, ...server.urls].map((url) => signIn(url, wallet(name))))
    const who = await person(server, name)
    expect(await toldTo(who)).toEqual([['welcome', words]])
    expect(await friendsOf(who)).toEqual([plazaAccount])
  })

  test('comes with the next sign-in to whom it could not be told at the first', async () => {
    const name = fresh('left out')
    failsIn(accountFor(name))
    const first = await person(server, name)
    expect([await toldTo(first), await friendsOf(first)]).toEqual([[], []])
    vi.restoreAllMocks()
    const again = await person(server, name)
    expect([await toldTo(again), await friendsOf(again)]).toEqual([[['welcome', words]], [plazaAccount]])
  })

  test('makes Plaza a friend, and a friendship that somebody has ended stays ended', async () => {
    const name = fresh('alone')
    const who = await person(server, name)
    expect(await friendsOf(who)).toEqual([plazaAccount])
    await who.does('rest', friends.removeByAddress, { friendAddress: plazaAccount })
    await person(server, name)
    expect(await friendsOf(who)).toEqual([])
    await isDueAgain(who.account)
    await person(server, name)
    expect([await toldTo(who), await friendsOf(who)]).toEqual([[['welcome', words]], []])
    expect(await Accounts.exists({ _id: who.account, welcome_due: true })).toBeNull()
  })

  test('gives Plaza no rights of a member, and makes it no friend whom admins tell something', async () => {
    const ada = await person(server, fresh('ada'))
    const memberAddresses = [plazaAccount]
    const { group, invited } = await ada.does('rest', rooms.createGroup, { name: 'A group', memberAddresses })
    expect(invited).toEqual([plazaAccount])
    const other = await groupOf(ada)
    const { added } = await ada.does('rest', rooms.addMembers, { id: other.id, addresses: [plazaAccount] })
    expect(added).toEqual([])
    for (const { id } of [group, other]) {
      const { members } = await ada.does('rest', rooms.members, { room: { type: 'group', id: id ?? '' } })
      expect(members.map(({ user_address }) => user_address)).toEqual([ada.account])
    }
    expect(await friendsOf(admin)).toEqual([plazaAccount])
    expect(await admin.does('rest', broadcasts.read, { target: 'friends' })).toMatchObject({ total: 0 })
    const told = await admin.does('rest', broadcasts.send, { message: 'Dear friends', target: 'friends' })
    expect(told).toMatchObject({ sent: 0, failed: 0, total: 0 })
  })

  test('leaves alone who has blocked Plaza before it comes', async () => {
    const name = fresh('blocks')
    failsIn(accountFor(name))
    const who = await person(server, name)
    vi.restoreAllMocks()
    await who.does('rest', social.block, { userAddress: plazaAccount })
    await person(server, name)
    await who.does('rest', social.unblock, { userAddress: plazaAccount })
    await person(server, name)
    expect([await toldTo(who), await friendsOf(who)]).toEqual([[], []])
  })

  solo('makes Plaza none of the five friends that points are given for', async () => {
    const [who, ...others] = await people(server, ...[1, 2, 3, 4, 5].map((at) => fresh(`one of five ${at}`)))
    for (const other of others) await befriend(who as Person, other)
    expect(await who?.does('rest', points.claim, { action: 'five_friends' })).toMatchObject({ state: 'open' })
  })

  test('makes Plaza no friend of who has blocked it meanwhile', async () => {
    const name = fresh('blocks')
    failsIn(accountFor(name))
    const who = await person(server, name)
    vi.restoreAllMocks()
    let isTold = false
    inConversation(who.account, async (act) => {
      const done = await act()
      const blocks = !isTold
      isTold = true
      if (blocks) await who.does('rest', social.block, { userAddress: plazaAccount })
      return done
    })
    await person(server, name)
    vi.restoreAllMocks()
    await who.does('rest', social.unblock, { userAddress: plazaAccount })
    expect([await toldTo(who), await friendsOf(who)]).toEqual([[['welcome', words]], []])
  })

  test('is for people who sign in for the first time, however they do, and for nobody else', async () => {
    // Known before the first sign-in: by the configuration, and by the address that a code was sent to.
    expect(await toldTo(admin)).toEqual([['welcome', words]])
    const { sessionToken, walletAddress } = await signInByEmail(server, 'new@people.test')
    const { body } = await call(server.url, `GET /api/messages?peer=${plazaAccount}`, null, sessionToken)
    expect(body.messages).toMatchObject([{ message_type: 'welcome', recipient_address: walletAddress }])

    const name = fresh('older')
    const at = new Date(0)
    await Accounts.create({ _id: accountFor(name), wallet_type: 'eoa', created_at: at, updated_at: at })
    const older = await person(server, name)
    expect([await toldTo(older), await friendsOf(older)]).toEqual([[], []])
    const scopes = ['messages:write']
    const { token, serviceToken } = await admin.does('rest', serviceTokens.create, { name: fresh('Rain'), scopes })
    await call(server.url, 'POST /api/rooms/alpha/messages', { text: 'It rains' }, token)
    expect(await Rooms.exists({ _id: roomKey(withPlaza(serviceToken.account)) })).toBeNull()
  })

  test.each(over)('nobody sends what passes for it, or for another message of Plaza, over %s', async (door) => {
    const [one, two] = await people(server, fresh('one'), fresh('two'))
    const channel = await channelOf(one)
    const refused = '400 VALIDATION_ERROR'
    for (const type of ['welcome', 'system', 'broadcast'] as never[]) {
      for (const [room, text] of [
        [dmOf(one.account, two.account), sealed()],
        [channel, words],
        [alpha, words],
      ] as const)
        for (const spelled of [{ type }, { messageType: type }, { message_type: type }]) {
          const said = { room, text, ...spelled }
          expect([said, outcomeOf(await one.tries(door, messages.send, said))]).toEqual([said, refused])
          expect([said, outcomeOf(await one.tries(door, messages.check, said))]).toEqual([said, refused])
        }
      const direct = { recipientAddress: two.account, encryptedContent: sealed(), messageType: type }
      expect(outcomeOf(await one.rest('POST /api/messages', direct))).toBe(refused)
      const said = { content: words, messageType: type }
      for (const path of ['messages', 'p2p-messages'])
        expect(outcomeOf(await one.rest(`POST /api/channels/${channel.id}/${path}`, said))).toBe(refused)
    }
  })
})

describe('a welcome that the configuration says nothing of', () => {
  afterEach(() => server.close())

  solo('says what somebody new may begin with', async () => {
    server = await boot({ entry: 'through the door', environment: { WELCOME_MESSAGE: '' } })
    const who = await person(server, fresh('reads'))
    expect(await toldTo(who)).toEqual([['welcome', expect.stringMatching(/^Welcome to Plaza!\n.*\bChannels\b/s)]])
  })

  test('is told to nobody where it is off, and makes no friend', async () => {
    server = await boot({ entry: 'through the door', environment: { WELCOME_MESSAGE: 'off' } })
    const who = await person(server, fresh('reads'))
    expect((await who.does('rest', inbox.directPreviews, {})).previews).toEqual([])
    expect(await friendsOf(who)).toEqual([])
    expect(await Accounts.exists({ welcome_due: { $exists: true } })).toBeNull()
  })
})
