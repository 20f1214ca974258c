// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { addressesAtMost, deviceKeys, devicesAtMost } from '#shared/api/people/device-keys'
import { friends } from '#shared/api/people/friends'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { deviceOf, newDevice, newKeyId, newPublicKey, noPoint } from '#test/support/direct'
import { outcomeOf, over, type Person, people, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

let server: Booted
let owner: Person
let other: Person
let stranger: Person
beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('root').address } })
  ;[owner, other, stranger] = await people(server, 'owner', 'other', 'stranger')
})
afterAll(() => server.close())

const read = async (who: Person, ...addresses: string[]) =>
  (await who.does('rest', deviceKeys.list, { addresses: addresses.join(',') })).devices
const certificate = {
  scheme: 'eip191',
  host: 'plaza.example',
  issued_at: '2026-11-24T00:00:00.000Z',
  signature: `0x${'ab'.repeat(65)}`,
} as const

describe('device keys', () => {
  test.each(over)('are told over %s, and changed in name and certificate alone', async (door) => {
    const device = newDevice()
    const { device: told } = await owner.does(door, deviceKeys.put, device)
    expect(told).toEqual({ address: owner.account, created_at: expect.any(String), ...device })
    const again = { ...device, name: 'A phone', certificate }
    expect((await owner.does(door, deviceKeys.put, again)).device).toEqual({ ...told, name: 'A phone', certificate })
    const swapped = { ...device, public_key: newPublicKey() }
    expect(outcomeOf(await owner.tries(door, deviceKeys.put, swapped))).toBe('409 CONFLICT')
    expect(outcomeOf(await other.tries(door, deviceKeys.put, device))).toBe('409 CONFLICT')
    expect(await read(owner, owner.account)).toContainEqual({ ...told, name: 'A phone', certificate })
    await owner.does(door, deviceKeys.remove, { device_id: device.device_id })
    expect((await owner.refused(door, deviceKeys.remove, { device_id: device.device_id })).code).toBe('NOT_FOUND')
  })

  test.each(over)('are never taken again over %s once they were removed, by nobody and with no key', async (door) => {
    const device = newDevice()
    await owner.does(door, deviceKeys.put, device)
    await owner.does(door, deviceKeys.remove, { device_id: device.device_id })
    const anotherKey = { ...device, public_key: newPublicKey() }
    for (const [who, told] of [
      [stranger, anotherKey],
      [stranger, device],
      [owner, anotherKey],
      [owner, device],
    ] as const) {
      const refusal = await who.refused(door, deviceKeys.put, told)
      expect([refusal.code, refusal.message]).toEqual(['CONFLICT', expect.stringContaining('new id')])
    }
    expect((await read(owner, owner.account)).map((one) => one.device_id)).not.toContain(device.device_id)
    await owner.does(door, deviceKeys.put, { ...device, device_id: newKeyId() })
  })

  test('T09: a device of somebody else is not removed', async () => {
    const device_id = await deviceOf(owner)
    for (const door of over)
      expect((await other.refused(door, deviceKeys.remove, { device_id })).code).toBe('NOT_FOUND')
    expect((await read(owner, owner.account)).map((one) => one.device_id)).toContain(device_id)
  })

  test('are ten for an account, of fifty that come at once too', async () => {
    const many = await person(server, 'many')
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, async () => outcomeOf(await many.tries('socket', deviceKeys.put, newDevice()))),
    )
    expect(new Set(outcomes)).toEqual(new Set(['200', '409 CONFLICT']))
    const stored = await read(many, many.account)
    expect(stored.length).toBeLessThanOrEqual(devicesAtMost)
    expect(outcomes.filter((outcome) => outcome === '200')).toHaveLength(stored.length)
    for (let at = stored.length; at < devicesAtMost; at++) await deviceOf(many)
    const [first] = await read(many, many.account)
    const late = newDevice()
    expect(outcomeOf(await many.tries('rest', deviceKeys.put, late))).toBe('409 CONFLICT')
    await many.does('rest', deviceKeys.remove, { device_id: first?.device_id ?? '' })
    await many.does('rest', deviceKeys.put, late)
    expect(outcomeOf(await many.tries('rest', deviceKeys.put, newDevice()))).toBe('409 CONFLICT')
  })

  test('are read by friends, and by those with whom a conversation was opened, without their names', async () => {
    const [one, two] = await people(server, 'reader one', 'reader two')
    const device_id = await deviceOf(two)
    expect(await read(one, two.account)).toEqual([])
    await one.does('rest', rooms.openDm, { recipientAddress: two.account })
    expect(await read(one, two.account)).toMatchObject([{ address: two.account, device_id, name: null }])
    expect(await read(two, one.account, two.account)).toMatchObject([{ device_id, name: 'A laptop' }])

    const friend = await person(server, 'a friend')
    const { request } = await friend.does('rest', friends.request, { toAddress: two.account })
    expect(await read(friend, two.account)).toEqual([])
    await two.does('rest', friends.accept, { requestId: request.id })
    expect(await read(friend, two.account, one.account)).toMatchObject([{ address: two.account }])

    await two.does('rest', social.block, { userAddress: one.account })
    expect([await read(one, two.account), await read(two, one.account)]).toEqual([[], []])
  })

  test('T41: of strangers, and of nobody, look alike', async () => {
    const nobody = wallet('nobody at all').address.toLowerCase()
    expect(await read(stranger, owner.account, nobody)).toEqual([])
  })

  test.each([
    ['no address', { addresses: '' }],
    ['commas alone', { addresses: ',,' }],
    ['what is no address', { addresses: '$ne' }],
    ['more than fifty', { addresses: Array.from({ length: addressesAtMost + 1 }, (_, at) => `a${at}`).join(',') }],
  ])('T20: %s is refused', async (_, input) => {
    for (const door of over) expect((await owner.refused(door, deviceKeys.list, input)).status).toBe(400)
  })

  test.each([
    ['a key of 64 bytes', { public_key: Buffer.alloc(64, 4).toString('base64url') }],
    ['a point that is not on the curve', { public_key: noPoint }],
    ['a compressed point', { public_key: Buffer.concat([Buffer.of(2), Buffer.alloc(64)]).toString('base64url') }],
    ['a key with another last letter', { public_key: `${newPublicKey().slice(0, 86)}B` }],
    ['an id of words', { device_id: 'my laptop' }],
    ['an id with another last letter', { device_id: `${newKeyId().slice(0, 21)}B` }],
    ['no name', { name: ' ' }],
    ['another scheme', { certificate: { ...certificate, scheme: 'none' as 'eip191' } }],
    ['a signature that is none', { certificate: { ...certificate, signature: 'yes' } }],
    ['more in a certificate', { certificate: { ...certificate, role: 'admin' } as typeof certificate }],
  ])('T12: %s is refused', async (_, spoilt) => {
    for (const door of over)
      expect((await owner.refused(door, deviceKeys.put, { ...newDevice(), ...spoilt })).status).toBe(400)
  })

  test('are not told by who is suspended', async () => {
    const root = await person(server, 'root')
    const suspended = await person(server, 'suspended')
    await root.does('rest', accounts.suspend, { userAddress: suspended.account, ban: true })
    for (const door of over) expect((await suspended.refused(door, deviceKeys.put, newDevice())).code).toBe('SUSPENDED')
  })
})
