// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test } from 'vitest'
import { StoredJobs } from '#server/kernel/store/model'
import { fakePush } from '#server/ports/push/fake'
import { calls } from '#shared/api/meetings/calls'
import { social } from '#shared/api/moderation/social'
import { friends } from '#shared/api/people/friends'
import { push as contract } from '#shared/api/platform/push'
import { groupInvitations } from '#shared/api/rooms/group-invitations'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { befriend, groupOf, moderates, type Person, people, person, personAt, sealed } from '#test/support/people'
import { pushBrowser } from '#test/support/push-browser'
import { solo } from '#test/support/solo'

const push = fakePush()
const { server } = await bootWith([], { services: { push } })

let one: Person
let two: Person
let endpoint: string
let round = 0
beforeEach(async () => {
  push.moods.clear()
  round += 1
  ;[one, two] = await people(server, `telling ${round}`, `told ${round}`)
})

/** From here on `two` is told by a new browser; of how they came into a group it was not. */
const listens = async () => {
  endpoint = await subscribes(two)
}

let made = 0
/** Has a new browser of somebody told; gives its endpoint. */
async function subscribes(who: Person): Promise<string> {
  const browser = pushBrowser(`https://push.test/now/${++made}`)
  await who.does('rest', contract.subscribe, { subscription: browser.asJson })
  return browser.subscription.endpoint
}
interface Shown {
  body: string
  tag: string
  silent?: true
  closed?: true
}
const givenAt = (at = endpoint) =>
  push.sent.filter((one) => one.endpoint === at).map(({ message }) => JSON.parse(message.text) as Shown)
const gives = (...notices: object[]) => expect.poll(() => givenAt()).toMatchObject(notices)
const writes = async (room: RoomRef, text: string, from = one) =>
  (await from.does('rest', messages.send, { room, text })).message
const remove = (room: RoomRef, id: string) => one.does('rest', messages.remove, { room, id })
const edit = (room: RoomRef, id: string, text: string) => one.does('rest', messages.edit, { room, id, text })
const read = (room: RoomRef, seq: number, by = two) => by.does('socket', messages.read, { room, seq })

const removes = ({ id }: RoomRef) => one.rest(`DELETE /api/groups/${id}/members/${two.account}`)

/** After this, every notice that waited was given or given up. */
const allTold = () => expect.poll(() => StoredJobs.countDocuments({ kind: 'push.give', state: 'open' })).toBe(0)

describe('O29: while a push service refuses, what changes is judged again:', () => {
  /** A group in which `one` has said something that the push service of `two` did not take. */
  async function refused() {
    const room = await groupOf(one, two)
    await listens()
    push.moods.set(endpoint, 'UPSTREAM_ERROR')
    const said = await writes(room, 'Dinner at eight')
    await expect.poll(() => push.asked).toContain(endpoint)
    return { ...said, room }
  }
  const outs: [string, (said: Awaited<ReturnType<typeof refused>>) => Promise<unknown>][] = [
    ['was deleted', ({ room, id }) => remove(room, id)],
    ['was read', ({ room, seq }) => read(room, seq)],
    ['somebody was removed from', ({ room }) => removes(room)],
    ['somebody has left', ({ room }) => two.does('rest', rooms.leave, { room })],
    [
      'somebody has silenced',
      ({ room }) => two.does('rest', social.mute, { conversationType: 'group', conversationId: room.id }),
    ],
    ['nobody wants to hear of', () => two.does('rest', contract.changePreferences, { notifyGroups: false })],
    ['was said by somebody blocked', () => two.does('rest', social.block, { userAddress: one.account })],
  ]
  solo.each(outs)('what %s is told no more', async (_what, act) => {
    const said = await refused()
    await act(said)
    push.moods.clear()
    await allTold()
    expect(givenAt()).toEqual([])
  })

  solo('what was edited is told as it is now', async () => {
    const { room, id } = await refused()
    await edit(room, id, 'Dinner at nine')
    push.moods.clear()
    await gives({ body: 'Dinner at nine', tag: roomKey(room) })
  })

  solo('of what is deleted, a notice before it stays', async () => {
    const room = await groupOf(one, two)
    await listens()
    await writes(room, 'Dinner at eight')
    await gives({ body: 'Dinner at eight' })
    push.moods.set(endpoint, 'UPSTREAM_ERROR')
    const { id } = await writes(room, 'Or not')
    const before = push.asked.length
    await expect.poll(() => push.asked.length).toBeGreaterThan(before)
    await remove(room, id)
    push.moods.clear()
    await allTold()
    expect(givenAt()).toHaveLength(1)
  })

  solo('a call that rings no more is not told', async () => {
    await befriend(one, two)
    await listens()
    push.moods.set(endpoint, 'UPSTREAM_ERROR')
    const ring = { calleeAddress: two.account, callType: 'video', status: 'ringing' } as const
    const { call } = await one.does('rest', calls.start, ring)
    await expect.poll(() => push.asked).toContain(endpoint)
    await one.does('rest', calls.change, { callId: call.id, status: 'missed' })
    push.moods.clear()
    await allTold()
    expect(givenAt()).toEqual([])
  })
})

describe('O29: a browser that was told', () => {
  async function told(also: Person | null = null) {
    const text = 'Dinner at eight'
    const room = await groupOf(one, two)
    await listens()
    const there = also ? await subscribes(also) : ''
    const said = await writes(room, text)
    await gives({ body: text, tag: roomKey(room) })
    return { ...said, room, there }
  }
  const closed = (tag: string) => ({ tag, closed: true, silent: true })

  solo.each([
    ['deleted', ({ room, id }: Awaited<ReturnType<typeof told>>) => remove(room, id)],
    ['of a group that somebody was removed from', ({ room }: Awaited<ReturnType<typeof told>>) => removes(room)],
  ] as const)('shows no more what is %s', async (_what, act) => {
    const said = await told()
    await act(said)
    await gives({ body: 'Dinner at eight' }, closed(roomKey(said.room)))
  })

  solo('shows no more what is purged', async () => {
    const third = await personAt(one.url, `purged ${round}`)
    const room = await groupOf(one, two, third)
    await listens()
    await writes(room, 'Buy now', third)
    await gives({ body: 'Buy now' })
    await moderates(one, { room, action: 'purge', target: third.account })
    await gives({ body: 'Buy now' }, closed(roomKey(room)))
  })

  solo('shows what was edited as it is now, without a sound, and once', async () => {
    const { room, id } = await told()
    expect(givenAt()[0]).not.toHaveProperty('silent')
    await edit(room, id, 'Dinner at nine')
    await gives({ body: 'Dinner at eight' }, { body: 'Dinner at nine', tag: roomKey(room), silent: true })
    await writes(room, 'Who comes?')
    await expect.poll(() => givenAt().at(-1)?.body).toBe('Who comes?')
    expect(givenAt().at(-1)).not.toHaveProperty('silent')
  })

  test('shows no more what is read elsewhere, on whichever node; where it is read, the page sees to that', async () => {
    const elsewhere = await personAt(server.urls.at(-1) ?? server.url, `told ${round}`)
    const { room, seq, there } = await told(elsewhere)
    await expect.poll(() => givenAt(there)).toMatchObject([{ body: 'Dinner at eight' }])
    await read(room, seq, elsewhere)
    await gives({ body: 'Dinner at eight' }, closed(roomKey(room)))
    await allTold()
    expect(givenAt(there)).toHaveLength(1)
  })

  solo('shows what is new after what was read', async () => {
    const { room, id } = await told()
    const elsewhere = await person(server, `told ${round}`)
    // Over REST, as nobody with a page in front of them is told.
    await elsewhere.rest(`POST /api/groups/${room.id}/read`, { messageId: id })
    await gives({ body: 'Dinner at eight' }, closed(roomKey(room)))
    await writes(room, 'Who comes?')
    await gives({}, {}, { body: 'Who comes?', tag: roomKey(room) })
  })

  solo('of a direct message shows it no more once that is deleted', async () => {
    await listens()
    const room = dmOf(one.account, two.account)
    const { id } = await writes(room, sealed())
    await gives({ body: 'New message' })
    await remove(room, id)
    await gives({ body: 'New message' }, closed(roomKey(room)))
  })

  solo('of a call shows it no more once that is answered', async () => {
    await befriend(one, two)
    await listens()
    const ring = { calleeAddress: two.account, callType: 'video', status: 'ringing' } as const
    const { call } = await one.does('rest', calls.start, ring)
    await gives({ body: 'Incoming video call' })
    await two.does('rest', calls.change, { callId: call.id, status: 'declined' })
    await gives({ body: 'Incoming video call' }, closed(`call:${call.id}`))
  })

  solo('of a request and an invitation shows neither once it is answered or withdrawn', async () => {
    await listens()
    const { request } = await one.does('rest', friends.request, { toAddress: two.account })
    await gives({ body: 'Would like to be your friend' })
    await two.does('rest', friends.decline, { requestId: request.id })
    await gives({}, closed(`friend:${request.id}`))
    await one.does('rest', rooms.createGroup, { name: `Readers ${round}`, memberAddresses: [two.account] })
    await gives({}, {}, { body: `Invites you to Readers ${round}` })
    const [invitation] = (await two.does('rest', groupInvitations.list, {})).invitations
    await two.does('rest', groupInvitations.decline, { id: invitation?.id ?? '' })
    await gives({}, {}, {}, closed(`group_invitation:${invitation?.id}`))
  })
})
