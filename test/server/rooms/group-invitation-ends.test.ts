// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { GroupInvitations } from '#server/domains/rooms/rooms/group-invitations/model'
import { newId } from '#server/kernel/ids'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { groupInvitationEnded, groupInvitations, groupInvited } from '#shared/api/rooms/group-invitations'
import { invitations as links } from '#shared/api/rooms/invitations'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { acceptInto, befriend, type Door, moderates, over, type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

let server: Booted
let root: Person
let owner: Person
let guest: Person
let round = 0

beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('ending root').address } })
  root = await person(server, 'ending root')
})
afterAll(() => server.close())
beforeEach(async () => {
  round += 1
  owner = await person(server, `ending owner ${round}`)
  guest = await person(server, `ending guest ${round}`)
})

const asked = async (who: Person) => (await who.does('rest', groupInvitations.list, {})).invitations
const suspend = (who: Person, ban: boolean) => root.does('rest', accounts.suspend, { userAddress: who.account, ban })

/** A waiting invitation of the owner's to the guest, whose devices at every node have heard of it. */
async function waiting() {
  const lines = await Promise.all(server.urls.map((url) => guest.socket('/notifications', url)))
  await befriend(owner, root)
  const memberAddresses = [root.account, guest.account]
  const { group } = await owner.does('rest', rooms.createGroup, { name: `Ending ${round}`, memberAddresses })
  await Promise.all(lines.map((line) => line.hears(groupInvited)))
  const room = { type: 'group', id: group.id } as const
  return { room, id: (await asked(guest))[0]?.id ?? '', lines }
}
type Waiting = Awaited<ReturnType<typeof waiting>>

/** Every device has heard of the end, once. */
const told = ({ lines, id, room }: Waiting) =>
  Promise.all(
    lines.map((line) =>
      expect.poll(() => line.all(groupInvitationEnded)).toEqual([{ invitation: { id, group_id: room.id } }]),
    ),
  )

const groupAsking = (inviter: Person) =>
  inviter.does('rest', rooms.createGroup, { name: 'Asking', memberAddresses: [guest.account] })
const groupWith = async (inviter: Person) => (await groupAsking(inviter)).group

const owners = () => ({ address: owner.account })
const grounds: { name: string; goes: (at: Waiting) => Promise<unknown>; code?: string }[] = [
  { name: 'its sender leaves', goes: ({ room }) => owner.does('socket', rooms.leave, { room }) },
  {
    name: 'its sender is removed',
    goes: ({ room }) => root.does('rest', rooms.kick, { room, ...owners() }),
  },
  {
    name: 'its sender is an admin no more',
    goes: ({ room }) => root.does('rest', rooms.setRole, { room, role: 'member', ...owners() }),
  },
  {
    name: 'its sender is banned there',
    goes: ({ room }) => moderates(root, { room, action: 'ban', target: owner.account, duration: '1h' }),
  },
  { name: 'its sender is suspended', goes: () => suspend(owner, true) },
  {
    name: 'the invited blocks its sender',
    goes: () => guest.does('rest', social.block, { userAddress: owner.account }),
    code: 'NOT_FOUND',
  },
  {
    name: 'its sender blocks the invited',
    goes: () => owner.does('rest', social.block, { userAddress: guest.account }),
    code: 'NOT_FOUND',
  },
  {
    name: 'the group is archived',
    goes: ({ room }) => owner.does('rest', rooms.archive, { room }),
    code: 'ROOM_ARCHIVED',
  },
  {
    name: 'the invited is banned there',
    goes: ({ room }) => moderates(owner, { room, action: 'ban', target: guest.account, duration: '1h' }),
    code: 'BANNED',
  },
]

test.each(over.flatMap((door) => grounds.map((ground) => ({ door, code: 'INVITATION_REVOKED', ...ground }))))(
  'N05: an invitation ends when $name: every device hears it, and $code is answered over $door',
  async ({ door, code, goes }) => {
    const invitation = await waiting()
    await goes(invitation)
    await told(invitation)
    expect((await guest.does(door, groupInvitations.list, {})).invitations).toEqual([])
    expect(await guest.refused(door, groupInvitations.accept, { id: invitation.id })).toMatchObject({ code })
    expect(await guest.refused(door, groupInvitations.decline, { id: invitation.id })).toMatchObject({
      code: 'NOT_FOUND',
    })
  },
)

solo.each(over)('N05: an invitation that ended stays so when its ground comes back, over %s', async (door) => {
  const invitation = await waiting()
  await suspend(owner, true)
  await told(invitation)
  await suspend(owner, false)
  expect(await asked(guest)).toEqual([])
  const { id } = invitation
  expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'INVITATION_REVOKED' })
  const addresses = [guest.account]
  await root.does('rest', rooms.handOver, { room: invitation.room, address: owner.account })
  await owner.does('rest', rooms.addMembers, { id: invitation.room.id, addresses })
  expect((await guest.does(door, groupInvitations.list, {})).invitations).toHaveLength(1)
})

const losses = [
  {
    name: 'is one no more',
    loses: (admin: Person) => root.does('rest', accounts.revokeAdmin, { address: admin.account }),
  },
  {
    name: 'leaves the group',
    loses: (admin: Person, id: string) => admin.does('rest', rooms.leave, { room: { type: 'group', id } }),
  },
]

solo.each(over.flatMap((door) => losses.map((loss) => ({ door, ...loss }))))(
  'N05: an admin of everything who $name invites nobody by what waits, over $door',
  async ({ door, loses }) => {
    const admin = await person(server, `ending admin ${round}`)
    await root.does('rest', accounts.grantAdmin, { walletAddress: admin.account })
    await befriend(owner, admin)
    const { group } = await owner.does('rest', rooms.createGroup, { name: 'Run', memberAddresses: [admin.account] })
    await admin.does('rest', rooms.addMembers, { id: group.id, addresses: [guest.account] })
    const id = (await asked(guest))[0]?.id ?? ''
    await loses(admin, group.id)
    await expect.poll(() => GroupInvitations.findOne({ invitation_id: id }).lean()).toMatchObject({ status: 'ended' })
    await GroupInvitations.updateOne({ invitation_id: id }, { $set: { status: 'pending', responded_at: null } })
    expect((await guest.does(door, groupInvitations.list, {})).invitations).toEqual([])
    expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'INVITATION_REVOKED' })
  },
)

solo.each(over)(
  'N05: who came in otherwise and was removed does not come back by an invitation, over %s',
  async (door) => {
    const invitation = await waiting()
    const { room, id } = invitation
    const { token } = await owner.does('rest', links.create, { room })
    await guest.does('rest', links.accept, { token })
    await told(invitation)
    await owner.does('rest', rooms.kick, { room, address: guest.account })
    expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'INVITATION_REVOKED' })
  },
)

solo('N05: an invitation ends when a friend brings the invited in', async () => {
  const invitation = await waiting()
  await befriend(owner, guest)
  const addresses = [guest.account]
  const { added } = await owner.does('rest', rooms.addMembers, { id: invitation.room.id, addresses })
  expect(added).toEqual(addresses)
  await told(invitation)
})

solo('N05: what others wait for goes on when one of several admins leaves', async () => {
  const other = await person(server, `ending other ${round}`)
  await befriend(owner, other)
  const { room, id } = await waiting()
  await owner.does('rest', rooms.addMembers, { id: room.id, addresses: [other.account] })
  await root.does('rest', rooms.setRole, { room, role: 'admin', address: other.account })
  const third = await person(server, `ending third ${round}`)
  await other.does('rest', rooms.addMembers, { id: room.id, addresses: [third.account] })
  await other.does('rest', rooms.leave, { room })
  await expect.poll(() => asked(third)).toEqual([])
  expect((await asked(guest)).map((one) => one.id)).toEqual([id])
  await guest.does('rest', groupInvitations.accept, { id })
})

/** What the node that ends them has died before: the invitation waits on. */
const missed = [...grounds.slice(0, 5), ...grounds.slice(7)]

solo.each(over.flatMap((door) => missed.map((ground) => ({ door, code: 'INVITATION_REVOKED', ...ground }))))(
  'N05: where nobody ended it when $name, it is in no list, and $code is answered over $door',
  async ({ door, code, goes }) => {
    const invitation = await waiting()
    await goes(invitation)
    await told(invitation)
    const { id } = invitation
    await GroupInvitations.updateOne({ invitation_id: id }, { $set: { status: 'pending', responded_at: null } })
    expect((await guest.does(door, groupInvitations.list, {})).invitations).toEqual([])
    expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code })
  },
)

/** So many waiting for the guest, each of an account of its own that is an admin of a group of its own; of these accounts, or of nobody's. */
async function crowd(count: number, inviters: readonly string[] = []): Promise<string[]> {
  const at = new Date().toISOString()
  const rows = Array.from({ length: count }, (_, index) => {
    const id = newId()
    return { id, room: `group:${id}`, inviter_address: inviters[index] ?? `crowd ${round} ${id}` }
  })
  const room = { type: 'group', emoji: '💬', category: 'general', is_active: true, created_at: at, updated_at: at }
  await Rooms.insertMany(
    rows.map(({ id, inviter_address }) => ({
      _id: `group:${id}`,
      id,
      name: id,
      owner_address: inviter_address,
      ...room,
    })),
  )
  await Members.insertMany(
    rows.map(({ room, inviter_address: user_address }) => ({
      ...{ _id: `${room} ${user_address}`, room, user_address },
      ...{ role: 'admin', joined_at: at, is_active: true },
    })),
  )
  await GroupInvitations.insertMany(
    rows.map(({ room, inviter_address }) => ({
      ...{ _id: `${room} ${guest.account}`, invitation_id: newId(), room, inviter_address },
      ...{ invitee_address: guest.account, status: 'pending' as const, created_at: at, told_at: at },
    })),
  )
  return rows.map(({ id }) => id)
}
const groupsAsked = async (door: Door) =>
  (await guest.does(door, groupInvitations.list, {})).invitations.map(({ group_id }) => group_id)

solo.each(over)('N05: of many strangers a hundred wait, and a new one is seen, over %s', async (door) => {
  const acquaintance = await person(server, `ending acquaintance ${round}`)
  await acceptInto(guest, (await groupWith(acquaintance)).id)
  const [known = ''] = await crowd(1, [acquaintance.account])
  const strangers = await crowd(99)
  const lines = await Promise.all(server.urls.map((url) => guest.socket('/notifications', url)))
  const { group, invited } = await groupAsking(owner)
  expect(invited).toEqual([guest.account])
  expect(await groupsAsked(door)).toEqual([group.id, ...strangers.slice(1).reverse(), known])
  for (const line of lines)
    await expect.poll(() => line.all(groupInvitationEnded)).toMatchObject([{ invitation: { group_id: strangers[0] } }])
})

solo.each(over)(
  'N05: among a hundred acquaintances a stranger is not heard, and is not told so, over %s',
  async (door) => {
    const group = await groupWith(owner)
    await acceptInto(guest, group.id)
    const at = new Date().toISOString()
    const accounts = Array.from({ length: 100 }, () => `acquaintance ${round} ${newId()}`)
    await Members.insertMany(
      accounts.map((user_address) => ({
        ...{ _id: `group:${group.id} ${user_address}`, room: `group:${group.id}`, user_address },
        ...{ role: 'member', joined_at: at, is_active: true },
      })),
    )
    const waiting = await crowd(100, accounts)
    const line = await guest.socket('/notifications')
    const stranger = await person(server, `ending stranger ${round}`)
    const asking = await groupAsking(stranger)
    expect(asking.invited).toEqual([guest.account])
    expect(await groupsAsked(door)).toEqual(waiting.toReversed())
    // Who is known takes the place of the oldest.
    const more = await groupAsking(owner)
    await line.hears(groupInvited)
    expect(line.all(groupInvited).map(({ invitation }) => invitation.group_id)).toEqual([more.group.id])
    expect(await groupsAsked(door)).toEqual([more.group.id, ...waiting.slice(1).reverse()])
    const withdrawal = { id: asking.group.id, address: guest.account }
    await stranger.does(door, groupInvitations.withdraw, withdrawal)
  },
)
