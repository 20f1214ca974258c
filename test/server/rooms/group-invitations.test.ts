// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { GroupInvitations } from '#server/domains/rooms/rooms/group-invitations/model'
import { newId } from '#server/kernel/ids'
import { social } from '#shared/api/moderation/social'
import { groupInvitationEnded, groupInvitations, groupInvited } from '#shared/api/rooms/group-invitations'
import { inbox, unreadSnapshot } from '#shared/api/rooms/inbox'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Answer, befriend, type Door, groupOf, moderates, over, type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'

let server: Booted
let owner: Person
let guest: Person
let other: Person
let round = 0

beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())
beforeEach(async () => {
  round += 1
  owner = await person(server, `group owner ${round}`)
  guest = await person(server, `group guest ${round}`)
  other = await person(server, `group other ${round}`)
})

const invite = async (...people: Person[]) => {
  const memberAddresses = people.map(({ account }) => account)
  return owner.does('rest', rooms.createGroup, { name: `Readers ${round}`, memberAddresses })
}
const asked = async (who: Person) => (await who.does('rest', groupInvitations.list, {})).invitations
const onlyAsked = async (who: Person) => {
  const [invitation, ...more] = await asked(who)
  if (!invitation || more.length > 0) throw new Error(`${more.length} invitations too many`)
  return invitation
}
const groupsOf = async (who: Person) =>
  (await who.does('rest', inbox.list, {})).rooms.filter(({ type }) => type === 'group').map(({ id }) => id)

solo('N05: strangers are asked, friends are members at once', async () => {
  await befriend(owner, other)
  const { group, invited } = await invite(guest, other)
  expect([invited, await groupsOf(guest), await groupsOf(other)]).toEqual([[guest.account], [], [group.id]])
  expect(await onlyAsked(guest)).toMatchObject({
    group_id: group.id,
    group_name: `Readers ${round}`,
    member_count: 2,
    inviter_address: owner.account,
    invitee_address: guest.account,
    status: 'pending',
    responded_at: null,
  })
  expect(await asked(other)).toEqual([])
})

solo('N05: an admin who adds people adds friends and asks strangers; who is in already is passed over', async () => {
  const { id } = await groupOf(owner, other)
  const stranger = await owner.does('rest', rooms.addMembers, { id, addresses: [guest.account, other.account] })
  expect(stranger).toEqual({ success: true, added: [], invited: [guest.account] })
  await befriend(owner, guest)
  const friend = await owner.does('rest', rooms.addMembers, { id, addresses: [guest.account] })
  expect(friend).toEqual({ success: true, added: [guest.account], invited: [] })
})

solo.each(over)('an invitation is accepted over %s, once, by who it is to', async (door) => {
  const { group } = await invite(guest)
  const { invitations } = await guest.does(door, groupInvitations.list, {})
  const id = invitations[0]?.id ?? ''
  expect(await other.refused(door, groupInvitations.accept, { id })).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  expect(await other.refused(door, groupInvitations.decline, { id })).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  const accepted = await guest.does(door, groupInvitations.accept, { id })
  expect(accepted.group).toMatchObject({ id: group.id, is_member: true, member_count: 2 })
  expect((await guest.does(door, groupInvitations.accept, { id })).group.member_count).toBe(2)
  expect([await asked(guest), await groupsOf(guest)]).toEqual([[], [group.id]])
  expect(await guest.refused(door, groupInvitations.decline, { id })).toMatchObject({ code: 'NOT_FOUND' })
})

solo.each(over)('who declines over %s is out, is not asked again for 30 days, and nobody is told', async (door) => {
  const { group } = await invite(guest)
  const { id } = await onlyAsked(guest)
  for (const _ of 'twice') await guest.does(door, groupInvitations.decline, { id })
  const again = () => owner.does('rest', rooms.addMembers, { id: group.id, addresses: [guest.account] })
  expect(await again()).toEqual({ success: true, added: [], invited: [guest.account] })
  expect([await asked(guest), await groupsOf(guest)]).toEqual([[], []])
  expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'NOT_FOUND' })
  const long = new Date(Date.now() - 31 * 86_400_000).toISOString()
  await GroupInvitations.updateOne({ invitation_id: id }, { $set: { responded_at: long } })
  await again()
  expect((await onlyAsked(guest)).id).not.toBe(id)
})

solo.each(over)('N05: an invitation that was declined is taken back over %s as one that waits', async (door) => {
  const { group } = await invite(guest)
  const withdrawal = { id: group.id, address: guest.account }
  const again = () => owner.does('rest', rooms.addMembers, { id: group.id, addresses: [guest.account] })
  await guest.does('rest', groupInvitations.decline, { id: (await onlyAsked(guest)).id })
  for (const _ of 'twice') {
    expect(await other.refused(door, groupInvitations.withdraw, withdrawal)).toMatchObject({ code: 'NOT_FOUND' })
    await owner.does(door, groupInvitations.withdraw, withdrawal)
    expect(await owner.refused(door, groupInvitations.withdraw, withdrawal)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await again()).toEqual({ success: true, added: [], invited: [guest.account] })
    expect(await asked(guest)).toEqual([])
  }
})

solo.each(over)('an invitation is worth nothing once its sender may not bring people in, over %s', async (door) => {
  const room = await groupOf(owner, other)
  await owner.does('rest', rooms.setRole, { room, address: other.account, role: 'moderator' })
  const { group } = await invite(guest)
  const at = { type: 'group', id: group.id } as const
  const { id } = await onlyAsked(guest)
  await owner.does('rest', rooms.leave, { room: at })
  expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'INVITATION_REVOKED' })
})

solo.each(over)('who has left comes back by a new invitation alone, over %s', async (door) => {
  const { group } = await invite(guest)
  const room = { type: 'group', id: group.id } as const
  const { id } = await onlyAsked(guest)
  await guest.does('rest', groupInvitations.accept, { id })
  await guest.does('rest', rooms.leave, { room })
  expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'INVITATION_REVOKED' })
  await owner.does('rest', rooms.addMembers, { id: group.id, addresses: [guest.account] })
  await guest.does(door, groupInvitations.accept, { id: (await onlyAsked(guest)).id })
  expect(await groupsOf(guest)).toEqual([group.id])
})

solo.each(over)('a ban and the end of the group stand before an invitation, over %s', async (door) => {
  const { group } = await invite(guest, other)
  const room = { type: 'group', id: group.id } as const
  const [his, hers] = [await onlyAsked(guest), await onlyAsked(other)]
  await moderates(owner, { room, action: 'ban', target: guest.account, duration: '1h' })
  expect(await guest.refused(door, groupInvitations.accept, { id: his.id })).toMatchObject({ code: 'BANNED' })
  const addresses = [guest.account]
  expect(await owner.refused('rest', rooms.addMembers, { id: group.id, addresses })).toMatchObject({ code: 'BANNED' })
  await owner.does('rest', rooms.archive, { room })
  expect(await asked(other)).toEqual([])
  expect(await other.refused(door, groupInvitations.accept, { id: hers.id })).toMatchObject({ code: 'ROOM_ARCHIVED' })
})

solo.each(over)('a block hides the invitations of the blocked, over %s', async (door) => {
  await invite(guest)
  const { id } = await onlyAsked(guest)
  await guest.does('rest', social.block, { userAddress: owner.account })
  expect(await asked(guest)).toEqual([])
  expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'NOT_FOUND' })
})

solo.each(over)('an invitation is withdrawn over %s by who may', async (door) => {
  const { group } = await invite(guest)
  const withdrawal = { id: group.id, address: guest.account }
  for (const who of [other, guest])
    expect(await who.refused(door, groupInvitations.withdraw, withdrawal)).toMatchObject({ code: 'NOT_FOUND' })
  const { id } = await onlyAsked(guest)
  await owner.does(door, groupInvitations.withdraw, withdrawal)
  expect(await asked(guest)).toEqual([])
  expect(await guest.refused(door, groupInvitations.accept, { id })).toMatchObject({ code: 'NOT_FOUND' })
  expect(await owner.refused(door, groupInvitations.withdraw, withdrawal)).toMatchObject({ code: 'NOT_FOUND' })
})

test('every device of the invited is told of an invitation, and of its end', async () => {
  const lines = await Promise.all(server.urls.map((url) => guest.socket('/notifications', url)))
  for (const line of lines) await line.hears(unreadSnapshot)
  const { group } = await invite(guest)
  for (const line of lines)
    expect((await line.hears(groupInvited)).invitation).toMatchObject({ group_id: group.id, status: 'pending' })
  const { id } = await onlyAsked(guest)
  await guest.does('rest', groupInvitations.decline, { id })
  for (const line of lines)
    expect(await line.hears(groupInvitationEnded)).toEqual({ invitation: { id, group_id: group.id } })
})

solo('N05: nobody has more than a hundred invitations waiting, over every group', async () => {
  const rows = Array.from({ length: 100 }, (_, at) => ({
    _id: `group:full ${owner.account} ${at}`,
    invitation_id: `full-${owner.account}-${at}`,
    room: 'group:full',
    inviter_address: owner.account,
    invitee_address: `nobody ${at}`,
    status: 'pending' as const,
    created_at: new Date().toISOString(),
  }))
  await GroupInvitations.insertMany(rows)
  const input = { name: 'One more', memberAddresses: [guest.account] }
  expect(await owner.refused('rest', rooms.createGroup, input)).toMatchObject({ status: 409, code: 'CONFLICT' })
  const { id } = await groupOf(owner)
  const more = { id, addresses: [guest.account] }
  expect(await owner.refused('rest', rooms.addMembers, more)).toMatchObject({ status: 409, code: 'CONFLICT' })
  expect(await groupsOf(owner)).toEqual([id])
})

const answers = [
  {
    name: 'withdrawing',
    ends: (door: Door, group: string) =>
      owner.tries(door, groupInvitations.withdraw, { id: group, address: guest.account }),
  },
  {
    name: 'declining',
    ends: (door: Door, _group: string, id: string) => guest.tries(door, groupInvitations.decline, { id }),
  },
]

solo.each(over.flatMap((door) => answers.map((answer) => ({ door, ...answer }))))(
  'N05: of accepting and $name beside each other one succeeds, over $door',
  async ({ door, ends }) => {
    const { group } = await invite(guest)
    const { id } = await onlyAsked(guest)
    let ended: Promise<Answer> | null = null
    const update = GroupInvitations.updateOne.bind(GroupInvitations)
    // Between the join and what is noted of it.
    const held = vi.spyOn(GroupInvitations, 'updateOne').mockImplementation((async (
      ...input: Parameters<typeof update>
    ) => {
      if (JSON.stringify(input).includes('"accepted"')) {
        ended ??= ends(door, group.id, id)
        await ended
      }
      return update(...input)
    }) as never)
    const accepted = await guest.tries(door, groupInvitations.accept, { id })
    held.mockRestore()
    expect(accepted.ok).toBe(true)
    expect(await ended).toMatchObject({ ok: false, error: { status: 404, code: 'NOT_FOUND' } })
    expect([await asked(guest), await groupsOf(guest)]).toEqual([[], [group.id]])
  },
)

test.each(over.flatMap((door) => answers.map((answer) => ({ door, ...answer }))))(
  'N05: of accepting and $name at the same moment one succeeds, over $door',
  heavy,
  async ({ door, ends }) => {
    for (const _ of '12345678') {
      const { group } = await invite(guest)
      const { id } = await onlyAsked(guest)
      const [accepted, ended] = await Promise.all([
        guest.tries(door, groupInvitations.accept, { id }),
        ends(door, group.id, id),
      ])
      expect(accepted.ok).not.toBe(ended.ok)
      expect((await groupsOf(guest)).includes(group.id)).toBe(accepted.ok)
      guest = await person(server, `group guest ${round} ${group.id}`)
    }
  },
)

solo.each(over)('N05: what died while it accepted is accepted again, or withdrawn later, over %s', async (door) => {
  const { group } = await invite(guest, other)
  const [his, hers] = [await onlyAsked(guest), await onlyAsked(other)]
  const dying = (milliseconds: number) => ({
    $set: { accepting_until: new Date(Date.now() + milliseconds).toISOString() },
  })
  const withdrawal = { id: group.id, address: other.account }
  await GroupInvitations.updateOne({ invitation_id: hers.id }, dying(20_000))
  expect(await owner.refused(door, groupInvitations.withdraw, withdrawal)).toMatchObject({ code: 'NOT_FOUND' })
  await GroupInvitations.updateOne({ invitation_id: hers.id }, dying(-1_000))
  await owner.does(door, groupInvitations.withdraw, withdrawal)
  await GroupInvitations.updateOne({ invitation_id: his.id }, dying(20_000))
  expect((await onlyAsked(guest)).id).toBe(his.id)
  await guest.does(door, groupInvitations.accept, { id: his.id })
  expect([await groupsOf(guest), await groupsOf(other)]).toEqual([[group.id], []])
})

/** As an older version may have stored them: invitations to so many groups of their own, the oldest first. */
async function askedBefore(inviter: Person, count: number, is_active = true): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId())
  const at = new Date().toISOString()
  const fields = { type: 'group', emoji: '💬', category: 'general', is_active, created_at: at, updated_at: at }
  await Rooms.insertMany(
    ids.map((id) => ({ _id: `group:${id}`, id, name: id, owner_address: inviter.account, ...fields })),
  )
  await Members.insertMany(
    ids.map((id) => ({
      _id: `group:${id} ${inviter.account}`,
      room: `group:${id}`,
      user_address: inviter.account,
      role: 'admin',
      joined_at: at,
      is_active: true,
    })),
  )
  await GroupInvitations.insertMany(
    ids.map((id) => ({
      _id: `group:${id} ${guest.account}`,
      invitation_id: newId(),
      room: `group:${id}`,
      inviter_address: inviter.account,
      invitee_address: guest.account,
      status: 'pending' as const,
      created_at: at,
    })),
  )
  return ids
}
const groupsAsked = (invitations: readonly { group_id: string }[]) => invitations.map(({ group_id }) => group_id)

solo.each(over)('N05: what is hidden takes no place in the list of invitations, over %s', async (door) => {
  const honest = await askedBefore(owner, 1)
  await askedBefore(other, 104)
  await guest.does('rest', social.block, { userAddress: other.account })
  const archiver = await person(server, `group archiver ${round}`)
  await askedBefore(archiver, 104, false)
  const { invitations, has_more, next } = await guest.does(door, groupInvitations.list, {})
  expect([groupsAsked(invitations), has_more, next]).toEqual([honest, false, null])
})

solo.each(over)('N05: invitations are listed in pages, newest first, each once, over %s', async (door) => {
  const newest = (await askedBefore(owner, 105)).reverse()
  const first = await guest.does(door, groupInvitations.list, {})
  expect([groupsAsked(first.invitations), first.has_more]).toEqual([newest.slice(0, 100), true])
  // What is answered between two pages moves nothing.
  await guest.does(door, groupInvitations.decline, { id: first.next ?? '' })
  const last = await guest.does(door, groupInvitations.list, { before: first.next ?? '' })
  expect([groupsAsked(last.invitations), last.has_more, last.next]).toEqual([newest.slice(100), false, null])
  const few = await guest.does(door, groupInvitations.list, { limit: 2, before: first.invitations[4]?.id ?? '' })
  expect([groupsAsked(few.invitations), few.has_more]).toEqual([newest.slice(5, 7), true])
  const { id } = few.invitations[0] ?? { id: '' }
  expect(few.next).toBe(few.invitations[1]?.id)
  const beyond = await guest.does(door, groupInvitations.list, { limit: 1_000, before: id })
  expect(beyond.invitations).toHaveLength(98)
})

solo.each(over)('N05: of one inviter three invitations wait for one person, over %s', async (door) => {
  const input = { name: 'Many', memberAddresses: [guest.account] }
  const founded = await Promise.all(Array.from({ length: 6 }, () => owner.does('rest', rooms.createGroup, input)))
  expect(founded.map(({ invited }) => invited)).toEqual(Array(6).fill([guest.account]))
  const shown = groupsAsked(await asked(guest))
  expect(shown).toHaveLength(3)
  // Taking one back is answered alike, whether it was sent or not.
  const unsent = founded.find(({ group }) => !shown.includes(group.id))?.group.id ?? ''
  const withdrawal = { id: unsent, address: guest.account }
  await owner.does(door, groupInvitations.withdraw, withdrawal)
  expect(await owner.refused(door, groupInvitations.withdraw, withdrawal)).toMatchObject({ code: 'NOT_FOUND' })
})

solo.each(over)('N05: who has declined is asked into no group by that person, over %s', async (door) => {
  await invite(guest)
  await guest.does(door, groupInvitations.decline, { id: (await onlyAsked(guest)).id })
  const input = { name: 'Another', memberAddresses: [guest.account] }
  const { invited } = await owner.does('rest', rooms.createGroup, input)
  expect([invited, await asked(guest)]).toEqual([[guest.account], []])
})

solo.each(over)('N05: asking again rings no more, over %s', async (door) => {
  const line = await guest.socket('/notifications')
  const { group } = await invite(guest)
  await line.hears(groupInvited)
  const again = () => owner.does('rest', rooms.addMembers, { id: group.id, addresses: [guest.account] })
  for (const _ of '1234') await again()
  for (const _ of '1234') {
    await owner.does(door, groupInvitations.withdraw, { id: group.id, address: guest.account })
    await line.hears(groupInvitationEnded)
    await again()
  }
  expect([line.all(groupInvited).length, (await onlyAsked(guest)).group_id]).toEqual([1, group.id])
})
