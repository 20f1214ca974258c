// Modes: embedded, two-nodes-redis
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DeviceKeys } from '#server/domains/people/device-keys/model'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { deviceKeys } from '#shared/api/people/device-keys'
import { epochs, keyRequested } from '#shared/api/rooms/epochs'
import { messages } from '#shared/api/rooms/messages'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { deviceOf, envelopeFor, messageUnder, newDevice, newKeyId } from '#test/support/direct'
import { alpha, outcomeOf, over, type Person, person, sealed } from '#test/support/people'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

let server: Booted
let stranger: Person
let one: Person
let two: Person
let room: ReturnType<typeof dmOf>
let [mine, theirs] = ['', '']
let round = 0
beforeAll(async () => {
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address } })
  stranger = await person(server, 'stranger')
})
afterAll(() => server.close())
beforeEach(async () => {
  round += 1
  one = await person(server, `one ${round}`)
  two = await person(server, `two ${round}`)
  room = dmOf(one.account, two.account)
  mine = await deviceOf(one)
  theirs = await deviceOf(two)
})

const startOf = (after: string | null = null, devices = [mine, theirs]) => ({
  id: room.id,
  epoch_id: newKeyId(),
  after,
  device_id: mine,
  envelopes: devices.map(envelopeFor),
})
const shareOf = (epoch_id: string, devices = [mine, theirs]) => ({
  id: room.id,
  epoch_id,
  device_id: mine,
  envelopes: devices.map(envelopeFor),
})
const begin = async (after: string | null = null) => {
  const asked = startOf(after)
  await one.does('rest', epochs.start, asked)
  return asked
}
const read = (who: Person, device_id: string) => who.does('rest', epochs.list, { id: room.id, device_id })
const under = (epoch: string, iv?: Buffer) => ({ room, text: messageUnder(epoch, iv) })

describe('an epoch of a direct conversation', () => {
  test.each(over)('is begun over %s, told in order, and read by each device for itself', async (door) => {
    const asked = startOf()
    const { seq } = await one.does(door, epochs.start, asked)
    expect(await one.does(door, epochs.start, asked)).toMatchObject({ epoch_id: asked.epoch_id, seq })
    const [own] = asked.envelopes.filter(({ device_id }) => device_id === theirs)
    const { epochs: read } = await two.does(door, epochs.list, { id: room.id, device_id: theirs })
    expect(read).toMatchObject([
      {
        epoch_id: asked.epoch_id,
        seq,
        is_current: true,
        device_ids: [mine, theirs],
        envelopes: [{ enc: own?.enc, sealed: own?.sealed, by: { address: one.account, device_id: mine } }],
      },
    ])
    const { events } = await two.does(door, messages.sync, { room, after_seq: seq - 1 })
    expect(events).toMatchObject([
      { type: 'epoch.started', data: { epoch_id: asked.epoch_id, device_id: mine, device_ids: [mine, theirs] } },
    ])
    expect(JSON.stringify(events)).not.toContain(own?.sealed)
  })

  solo('T09: envelopes are told to the account of their device alone', async () => {
    await begin()
    expect((await read(two, mine)).epochs).toMatchObject([{ envelopes: [] }])
    for (const door of over) {
      const refusal = await stranger.refused(door, epochs.list, { id: room.id, device_id: mine })
      expect(refusal.code).toBe('ROOM_NOT_FOUND')
    }
  })

  test('of twenty that begin at once one stands, and is named to the others', async () => {
    const asked = Array.from({ length: 20 }, (_, at) => (at % 2 ? startOf() : { ...startOf(), device_id: theirs }))
    const answers = await Promise.all(asked.map((each, at) => (at % 2 ? one : two).tries('socket', epochs.start, each)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    const { epochs: stored } = await read(one, mine)
    expect(stored).toHaveLength(1)
    for (const answer of answers)
      if (!answer.ok)
        expect(answer.error).toMatchObject({ code: 'CONFLICT', details: { epoch_id: stored[0]?.epoch_id } })
  })

  solo('is given to more devices, once', async () => {
    const { epoch_id } = await begin()
    const added = await deviceOf(two)
    const asked = { id: room.id, epoch_id, device_id: theirs, envelopes: [envelopeFor(added)] }
    for (const door of over) await two.does(door, epochs.share, asked)
    const { epochs: stored } = await read(two, added)
    const { enc, sealed } = asked.envelopes[0] ?? {}
    expect(stored).toMatchObject([
      { device_ids: [mine, theirs, added], envelopes: [{ enc, sealed, by: { device_id: theirs } }] },
    ])
    expect(stored[0]?.envelopes).toHaveLength(1)
    const nowhere = { ...asked, epoch_id: newKeyId() }
    for (const door of over) expect((await two.refused(door, epochs.share, nowhere)).code).toBe('NOT_FOUND')
  })

  solo('is given by each of the two, however much the other has given', async () => {
    const { epoch_id } = await begin()
    for (let at = 0; at < 50; at++) {
      const junk = { ...shareOf(epoch_id, [mine]), device_id: theirs }
      if (!(await two.tries('socket', epochs.share, junk)).ok) break
    }
    for (const door of over) {
      const refused = await two.tries(door, epochs.share, { ...shareOf(epoch_id, [mine]), device_id: theirs })
      expect(outcomeOf(refused)).toBe('409 CONFLICT')
      await one.does(door, epochs.share, shareOf(epoch_id, [await deviceOf(one)]))
    }
  })

  solo('names the devices that the reader has sealed it to, apart from what the other has', async () => {
    const { epoch_id } = await begin()
    const added = await deviceOf(one)
    await two.does('rest', epochs.share, { ...shareOf(epoch_id, [added]), device_id: theirs })
    for (const door of over) {
      const [hers] = (await one.does(door, epochs.list, { id: room.id, device_id: mine })).epochs
      const [his] = (await two.does(door, epochs.list, { id: room.id, device_id: theirs })).epochs
      expect([hers?.device_ids, hers?.own_device_ids]).toEqual([
        [mine, theirs, added],
        [mine, theirs],
      ])
      expect(his?.own_device_ids).toEqual([added])
    }
  })

  test('is asked for of the devices of both people, who are connected there', async () => {
    const lines = await Promise.all([one.socket('/rooms', two.url), two.socket('/rooms')])
    const foreign = await stranger.socket('/rooms')
    await two.does('rest', epochs.request, { id: room.id, device_id: theirs })
    for (const line of lines)
      expect(await line.hears(keyRequested)).toEqual({ room, address: two.account, device_id: theirs })
    expect(foreign.all(keyRequested)).toEqual([])
    for (const door of over)
      expect((await two.refused(door, epochs.request, { id: room.id, device_id: mine })).code).toBe('CONFLICT')
  })

  solo.each([
    ['a device that is not there', () => ({ envelopes: [envelopeFor(newKeyId())] }), 'CONFLICT'],
    ['a device of the other as sender', () => ({ device_id: theirs }), 'CONFLICT'],
    ['a device twice', () => ({ envelopes: [envelopeFor(mine), envelopeFor(mine)] }), 'VALIDATION_ERROR'],
    ['no envelope', () => ({ envelopes: [] }), 'VALIDATION_ERROR'],
    [
      'an envelope of another length',
      () => ({ envelopes: [{ ...envelopeFor(mine), sealed: 'A'.repeat(63) }] }),
      'VALIDATION_ERROR',
    ],
    ['another id of the conversation', () => ({ id: `${room.id}~x` }), 'ROOM_NOT_FOUND'],
  ])('%s is refused', async (_, spoilt, code) => {
    const { epoch_id } = await begin()
    for (const door of over) {
      const started = await one.refused(door, epochs.start, { ...startOf(epoch_id), ...spoilt() })
      const shared = await one.refused(door, epochs.share, { ...shareOf(epoch_id), ...spoilt() })
      expect([started.code, shared.code]).toEqual([code, code])
    }
  })

  solo('a device of a stranger is refused, and so is a stranger', async () => {
    const foreign = await deviceOf(stranger)
    for (const door of over) {
      expect((await one.refused(door, epochs.start, startOf(null, [mine, foreign]))).code).toBe('CONFLICT')
      const its = { id: room.id, device_id: foreign }
      expect((await stranger.refused(door, epochs.start, { ...startOf(), ...its })).code).toBe('ROOM_NOT_FOUND')
      expect((await stranger.refused(door, epochs.share, { ...shareOf(newKeyId()), ...its })).code).toBe(
        'ROOM_NOT_FOUND',
      )
      expect((await stranger.refused(door, epochs.request, its)).code).toBe('ROOM_NOT_FOUND')
    }
  })

  solo('nothing is begun, given or asked for by who is blocked, or suspended', async () => {
    const { epoch_id } = await begin()
    const all = [
      [epochs.start, startOf(epoch_id)],
      [epochs.share, shareOf(epoch_id)],
      [epochs.request, { id: room.id, device_id: mine }],
    ] as const
    const codes = async (door: (typeof over)[number]) =>
      Promise.all(all.map(async ([operation, input]) => (await one.refused(door, operation, input)).code))
    await two.does('rest', social.block, { userAddress: one.account })
    for (const door of over) expect(await codes(door)).toEqual(['BLOCKED', 'BLOCKED', 'BLOCKED'])
    const root = await person(server, 'root')
    await root.does('rest', accounts.suspend, { userAddress: one.account, ban: true })
    for (const door of over) expect(await codes(door)).toEqual(['SUSPENDED', 'SUSPENDED', 'SUSPENDED'])
  })
})

describe('a message of version 1', () => {
  test.each(over)('is sent and edited under the current epoch, over %s', async (door) => {
    const first = await begin()
    const { message } = await one.does(door, messages.send, under(first.epoch_id))
    await one.does(door, messages.edit, { ...under(first.epoch_id), id: message.id })
    const second = await begin(first.epoch_id)
    const stale = { code: 'CONFLICT', details: { epoch_id: second.epoch_id } }
    expect(await one.refused(door, messages.send, under(first.epoch_id))).toMatchObject(stale)
    expect(await one.refused(door, messages.edit, { ...under(first.epoch_id), id: message.id })).toMatchObject(stale)
    await two.does(door, messages.send, under(second.epoch_id))
  })

  solo('is answered with the first result when it is repeated after its epoch', async () => {
    const first = await begin()
    const asked = { ...under(first.epoch_id), client_msg_id: 'once' }
    const { message } = await one.does('rest', messages.send, asked)
    await begin(first.epoch_id)
    expect(await one.does('rest', messages.send, asked)).toMatchObject({ duplicate: true, message: { id: message.id } })
  })

  solo(
    'is refused under an epoch that the conversation does not have, and where it is short or says more outside',
    async () => {
      const { epoch_id } = await begin()
      const short = messageUnder(epoch_id, randomBytes(12), 16)
      const { message } = await one.does('rest', messages.send, { room, text: sealed() })
      for (const door of over)
        for (const spoilt of [
          under(newKeyId()),
          { room, text: short },
          { ...under(epoch_id), type: 'photo' as const },
          { ...under(epoch_id), reply_to: message.id },
          { ...under(epoch_id), mentions: [{ kind: 'user' as const, id: two.account, start: 0, len: 1 }] },
        ])
          expect(outcomeOf(await one.tries(door, messages.send, spoilt))).toBe('400 VALIDATION_ERROR')
    },
  )

  solo('is refused where its vector was used in the epoch before, of the other person too', async () => {
    const first = await begin()
    const iv = randomBytes(12)
    const asked = under(first.epoch_id, iv)
    const { message } = await one.does('rest', messages.send, asked)
    await one.does('rest', messages.send, asked)
    for (const door of over) {
      expect(outcomeOf(await two.tries(door, messages.send, under(first.epoch_id, iv)))).toBe('409 CONFLICT')
      const edit = { ...under(first.epoch_id, iv), id: message.id }
      expect(outcomeOf(await one.tries(door, messages.edit, edit))).toBe('409 CONFLICT')
    }
    const second = await begin(first.epoch_id)
    await one.does('rest', messages.send, under(second.epoch_id, iv))
  })

  test('is refused once a device has gone that the epoch was sealed to, and once the two were parted by a block', async () => {
    const first = await begin()
    await two.does('rest', deviceKeys.remove, { device_id: theirs })
    for (const door of over)
      expect((await one.refused(door, messages.send, under(first.epoch_id))).details).toEqual({
        epoch_id: first.epoch_id,
      })
    theirs = await deviceOf(two)
    const second = await begin(first.epoch_id)
    await one.does('rest', messages.send, under(second.epoch_id))
    await two.does('rest', social.block, { userAddress: one.account })
    await two.does('rest', social.unblock, { userAddress: one.account })
    expect((await read(one, mine)).epochs).toMatchObject([{ is_current: false }, { is_current: false }])
    expect(outcomeOf(await one.tries('rest', messages.send, under(second.epoch_id)))).toBe('409 CONFLICT')
    const third = await begin(second.epoch_id)
    await one.does('rest', messages.send, under(third.epoch_id))
  })

  solo.each(over)(
    'is refused over %s under an epoch of a removed device, whoever tells of its id then',
    async (door) => {
      const device = { ...newDevice(), device_id: newKeyId() }
      await two.does(door, deviceKeys.put, device)
      const asked = startOf(null, [mine, device.device_id])
      await one.does(door, epochs.start, asked)
      await two.does(door, deviceKeys.remove, { device_id: device.device_id })
      for (const who of [stranger, one, two]) {
        await who.tries(door, deviceKeys.put, { ...device, public_key: newDevice().public_key })
        await who.tries(door, deviceKeys.put, device)
        expect(outcomeOf(await one.tries(door, messages.send, under(asked.epoch_id)))).toBe('409 CONFLICT')
      }
      await DeviceKeys.deleteOne({ _id: device.device_id })
      await stranger.does(door, deviceKeys.put, device)
      expect(outcomeOf(await one.tries(door, messages.send, under(asked.epoch_id)))).toBe('409 CONFLICT')
    },
  )

  solo('is judged as any text in other rooms, and beside texts of older clients', async () => {
    const { epoch_id } = await begin()
    await one.does('rest', messages.send, { room, text: sealed() })
    await one.does('rest', messages.send, { room: alpha, text: under(epoch_id).text })
  })
})
