// Modes: embedded
import { describe, expect, test } from 'vitest'
import { inbox } from '#shared/api/rooms/inbox'
import { access, rooms } from '#shared/api/rooms/rooms'
import { bootWith } from '#test/support/boot-with'
import { channelOf, groupOf, moderates, over, people } from '#test/support/people'

const { server, owner } = await bootWith(['owner'])

describe.each(over)('over %s', (door) => {
  const newcomer = async (name: string) => {
    const [person] = await people(server, `${name} over ${door}`)
    return { ...person, open: async () => (await person.does(door, inbox.openAgain, {})).rooms.map(({ id }) => id) }
  }

  test('N54: a room whose ban was lifted is open again to who was in it, until they come back or leave', async () => {
    const target = await newcomer('banned')
    const room = await channelOf(owner, target)
    const { account } = target
    const line = await target.line()
    expect(await target.open()).toEqual([])
    await moderates(owner, { room, action: 'ban', target: account, reason: 'Rude' })
    expect(await target.open()).toEqual([])
    line.forget()
    await moderates(owner, { room, action: 'unban', target: account })
    expect(await line.hears(access)).toMatchObject({ state: 'granted' })
    expect(await target.open()).toEqual([room.id])
    const { channels } = await target.does('rest', rooms.list, {})
    expect(channels.find(({ id }) => id === room.id)).toMatchObject({ is_member: false })

    await target.does(door, rooms.join, { room })
    expect(await target.open()).toEqual([])
    await target.does(door, rooms.leave, { room })
    await expect.poll(() => target.open()).toEqual([])
  })

  test('N54: a ban that has run out opens the room as one that is lifted does', async () => {
    const target = await newcomer('banned for a while')
    const room = await channelOf(owner, target)
    await moderates(owner, { room, action: 'ban', target: target.account, duration: '10m' })
    expect(await target.open()).toEqual([])
    server.setAhead(11 * 60)
    try {
      expect(await target.open()).toEqual([room.id])
    } finally {
      server.setAhead(0)
    }
  })

  test('N54: neither what nobody joins by themselves nor a room in which one never was is among them', async () => {
    const target = await newcomer('a stranger')
    const room = await channelOf(owner)
    const group = await groupOf(owner, target)
    for (const one of [room, group]) {
      await moderates(owner, { room: one, action: 'ban', target: target.account })
      await moderates(owner, { room: one, action: 'unban', target: target.account })
    }
    expect(await target.open()).toEqual([])
  })
})
