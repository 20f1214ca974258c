// Modes: embedded, two-nodes-redis
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sealMessage } from '#client/sdk/direct/message'
import { fileKeys, memoryKeys } from '#client/sdk/direct/store'
import { decryptMedia, encryptMedia } from '#client/sdk/media'
import type { Client } from '#client/sdk/types'
import { DeviceKeys } from '#server/domains/people/device-keys/model'
import { messages } from '#shared/api/rooms/messages'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { envelopeFor, newDevice, newPublicKey, noPoint } from '#test/support/direct'
import { clientOf, conversationOf, devicesIn, shows, textsOf } from '#test/support/direct-clients'
import { heavy } from '#test/support/heavy'
import { people, person } from '#test/support/people'
import { solo } from '#test/support/solo'

let server: Booted
const open = new Set<Client>()
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())
afterEach(() => {
  for (const client of open) client.close()
  open.clear()
})

let round = 0
let [ada, bo] = ['', '']
beforeEach(() => {
  round += 1
  ;[ada, bo] = [`ada ${round}`, `bo ${round}`]
})
const enter = async (name: string, options: Parameters<typeof clientOf>[2] = {}) => {
  const client = await clientOf(server, name, options)
  open.add(client)
  return client
}
const leave = (client: Client) => {
  client.close()
  open.delete(client)
}
/** Two people in their conversation. */
const pair = async (options: Parameters<typeof clientOf>[2] = {}) => {
  const [one, two] = [await enter(ada), await enter(bo, options)]
  const [hers, his] = [conversationOf(one, two), conversationOf(two, one)]
  await settles(() => [hers, his].map(({ state }) => state.direct?.state), ['ready', 'ready'])
  return { one, two, hers, his }
}
const settles = (what: () => unknown, value: unknown) => expect.poll(what, { timeout: 15_000 }).toEqual(value)
const epochsOf = async () => {
  const [reader, other] = await people(server, ada, bo)
  const { events } = await reader.does('rest', messages.sync, { room: dmOf(reader.account, other.account) })
  return events.filter(({ type }) => type === 'epoch.started').length
}

describe('a direct message', () => {
  test('is given and taken as plain text, with its reply and its edit inside', async () => {
    const { hers, his } = await pair()
    hers.send({ text: 'Meet me at the old mill' })
    await shows(his, 'Meet me at the old mill')
    const [asked] = his.state.messages
    his.send({ text: 'At nine?', reply_to: asked?.id ?? null })
    await shows(hers, 'Meet me at the old mill', 'At nine?')
    expect(hers.state.messages[1]).toMatchObject({
      secrecy: { state: 'clear', isSecret: true },
      reply_to: { id: asked?.id, content: 'Meet me at the old mill' },
    })
    await hers.edit(hers.state.messages[0]?.id ?? '', 'Meet me at the new mill')
    await shows(his, 'Meet me at the new mill', 'At nine?')
    const reader = await person(server, ada)
    const { events } = await reader.does('rest', messages.sync, {
      room: dmOf(reader.account, (await person(server, bo)).account),
    })
    expect(JSON.stringify(events)).not.toMatch(/mill|nine|"reply_to_id":"/)
  })

  test('of both at once is sealed by one epoch, and both give one safety number', async () => {
    const { hers, his } = await pair()
    hers.send({ text: 'one' })
    his.send({ text: 'two' })
    await expect.poll(() => textsOf(hers).sort(), { timeout: 15_000 }).toEqual(['one', 'two'])
    await expect.poll(() => textsOf(his).sort(), { timeout: 15_000 }).toEqual(['one', 'two'])
    expect(await epochsOf()).toBe(1)
    const number = await hers.safetyNumber()
    expect(await his.safetyNumber()).toEqual(number)
    expect(number).toHaveLength(12)
  })

  solo('opens though its sender was deleted before it was read for the first time', async () => {
    const [one, two] = [await enter(ada), await enter(bo, { isVouched: false })]
    await settles(async () => (await one.deviceKeys.list({ addresses: one.account })).devices.length, 1)
    const his = conversationOf(two, one)
    his.send({ text: 'farewell' })
    await settles(() => his.state.messages[0]?.local, 'sent')
    // As a deletion does that keeps the messages.
    await DeviceKeys.deleteMany({ account: two.account })
    leave(two)
    await shows(conversationOf(one, two), 'farewell')
  })

  solo('O30: of wallets is vouched for, however they write their address', async () => {
    const [hers, his] = await Promise.all([enter(ada), enter(bo, { isLowered: true })])
    const line = conversationOf(hers, his)
    line.send({ text: 'one' })
    const back = conversationOf(his, hers)
    await shows(back, 'one')
    for (const { state } of [line, back]) {
      const vouched = () => state.direct?.devices.map(({ isVouched }) => isVouched)
      await expect.poll(vouched, { timeout: 15_000 }).toEqual([true])
    }
  })

  solo('to somebody without a device is opened as soon as they have one', async () => {
    const one = await enter(ada)
    const { account } = await person(server, bo)
    const hers = conversationOf(one, { account })
    hers.send({ text: 'for later' })
    await expect.poll(() => hers.state.messages[0]?.local, { timeout: 15_000 }).toBe('sent')
    await shows(conversationOf(await enter(bo), one), 'for later')
  })

  solo('M07: of an older client is opened, and is said never to have been secret', async () => {
    const { one, two, his } = await pair()
    const room = dmOf(one.account, two.account)
    await one.messages.send({ room, text: await sealedByOldPage(room.id, 'from before') })
    await shows(his, 'from before')
    expect(his.state.messages[0]?.secrecy).toMatchObject({ state: 'clear', isSecret: false })
    const bare = await enter(bo, { keys: null })
    await shows(conversationOf(bare, one), 'from before')
  })

  solo('with an inside that is no message is said to be none, and hides nothing of the others', async () => {
    const { one, two, hers, his } = await pair()
    hers.send({ text: 'before' })
    await shows(his, 'before')
    const { epochId, key } = await hers.conversationKey()
    const place = { dm: dmOf(one.account, two.account).id, sender: one.account, client_msg_id: 'spoilt' }
    const inner = { type: 'text', text: 'look', attachments: {}, client_msg_id: 'spoilt' }
    const text = await sealMessage(key, epochId, place, inner as never)
    await one.messages.send({ room: dmOf(one.account, two.account), text, client_msg_id: 'spoilt' })
    hers.send({ text: 'after' })
    await shows(his, 'before', 'locked: malformed', 'after')
    await shows(hers, 'before', 'locked: malformed', 'after')
  })

  solo('names media that were sealed by the key of an epoch, also after the next one', async () => {
    const { two, hers, his } = await pair()
    const { epochId, key } = await hers.conversationKey()
    const blob = await encryptMedia(new Blob(['a picture']), key)
    await two.deviceKeys.remove({ device_id: his.state.direct?.deviceId ?? '' })
    const mediaSalt = 'a'.repeat(64)
    hers.send({ text: '[ENC_IMAGE:image/png]https://example.com/a.enc', mediaEpoch: epochId, mediaSalt })
    await expect.poll(() => hers.state.messages[0]?.local, { timeout: 15_000 }).toBe('sent')
    expect((await hers.conversationKey()).epochId).not.toBe(epochId)
    await settles(() => hers.state.messages[0]?.secrecy?.epochId, epochId)
    expect(hers.state.messages[0]?.secrecy?.mediaSalt).toBe(mediaSalt)
    const again = await hers.conversationKey(epochId)
    expect(await (await decryptMedia(blob, again.key)).text()).toBe('a picture')
  })
})

describe('the devices of a direct conversation', () => {
  test('one that is added reads what it is given, and one that is removed reads nothing that follows', async () => {
    const { one, two, hers, his } = await pair()
    hers.send({ text: 'first' })
    await shows(his, 'first')
    const phone = await enter(bo)
    const onPhone = conversationOf(phone, one)
    await shows(onPhone, 'first')
    hers.send({ text: 'second' })
    await shows(onPhone, 'first', 'second')
    await settles(() => devicesIn(hers), ['trusted', 'trusted'])
    expect(hers.state.direct?.devices.filter(({ isNew }) => isNew)).toHaveLength(1)
    await phone.deviceKeys.remove({ device_id: his.state.direct?.deviceId ?? '' })
    hers.send({ text: 'third' })
    await shows(onPhone, 'first', 'second', 'third')
    await shows(his, 'first', 'second', 'locked: no key')
    await expect.poll(() => his.state.direct?.state, { timeout: 15_000 }).toBe('unavailable')
    await two.renewDevice()
    await shows(his, 'first', 'second', 'third')
  })

  solo('T81: a key that the server swaps is refused and told, and nothing is sealed to it', async () => {
    const { hers, his } = await pair()
    hers.send({ text: 'before' })
    await shows(his, 'before')
    const device = his.state.direct?.deviceId ?? ''
    await DeviceKeys.updateOne({ _id: device }, { $set: { public_key: newPublicKey() } })
    await hers.safetyNumber()
    await settles(() => [hers.state.direct?.state, devicesIn(hers)], ['stopped', ['forged']])
    hers.send({ text: 'a secret' })
    await expect.poll(() => hers.state.messages[1]?.local, { timeout: 15_000 }).toBe('failed')
    expect(textsOf(his)).toEqual(['before'])
    await hers.acceptDevices()
    await settles(() => [hers.state.direct?.state, devicesIn(hers)], ['ready', ['left out']])
  })

  solo(
    'T81: a later device that nobody vouches for waits until it is accepted, and is given nothing before',
    async () => {
      const { one, hers, his } = await pair()
      hers.send({ text: 'before' })
      await shows(his, 'before')
      const planted = await enter(bo, { isVouched: false })
      const theirs = conversationOf(planted, one)
      await shows(theirs, 'locked: no key')
      await hers.safetyNumber()
      await settles(() => devicesIn(hers), ['trusted', 'waiting'])
      hers.retry(hers.send({ text: 'after' }).client_msg_id)
      await expect.poll(() => hers.state.messages[1]?.local, { timeout: 15_000 }).toBe('failed')
      expect(textsOf(theirs)).toEqual(['locked: no key'])
      await hers.acceptDevices()
      await shows(theirs, 'before', 'after')
      await settles(() => hers.state.messages[1]?.local, 'sent')
    },
  )

  solo('a later device is given the earlier messages by accepting it, without a message', async () => {
    const { one, hers, his } = await pair()
    hers.send({ text: 'old words' })
    await shows(his, 'old words')
    const theirs = conversationOf(await enter(bo, { isVouched: false }), one)
    await shows(theirs, 'locked: no key')
    await his.safetyNumber()
    await settles(() => devicesIn(his)?.toSorted(), ['trusted', 'waiting'])
    await his.acceptDevices()
    await shows(theirs, 'old words')
  })

  solo('T81: a certificate of another account is no certificate', async () => {
    const [one, two] = [await enter(ada), await enter(bo)]
    const own = async (who: typeof one) => (await who.deviceKeys.list({ addresses: who.account })).devices[0]
    await settles(async () => [await own(one), await own(two)].every((device) => device?.certificate), true)
    const [hers, his] = [await own(one), await own(two)]
    await DeviceKeys.updateOne({ _id: his?.device_id ?? '' }, { $set: { certificate: hers?.certificate ?? null } })
    await one.rooms.openDm({ recipientAddress: two.account })
    const room = conversationOf(one, two)
    await settles(() => devicesIn(room), ['forged'])
    room.send({ text: 'to nobody' })
    await settles(() => room.state.messages[0]?.local, 'failed')
  })

  solo('that were given junk by the other are given the key by their own account', async () => {
    const { one, two, hers, his } = await pair()
    hers.send({ text: 'kept' })
    await shows(his, 'kept')
    const keys = memoryKeys()
    const made = await enter(bo, { keys })
    const others = async () => {
      const { devices } = await made.deviceKeys.list({ addresses: two.account })
      return devices.map((device) => device.device_id).filter((id) => id !== his.state.direct?.deviceId)
    }
    await settles(async () => (await others()).length, 1)
    const [device_id = ''] = await others()
    leave(made)
    const { epochId } = await hers.conversationKey()
    await one.epochs.share({
      id: dmOf(one.account, two.account).id,
      epoch_id: epochId ?? '',
      device_id: hers.state.direct?.deviceId ?? '',
      envelopes: [envelopeFor(device_id)],
    })
    await shows(conversationOf(await enter(bo, { keys }), one), 'kept')
  })

  solo('whose key is none are left out, and stop nothing', async () => {
    const { two, hers, his } = await pair()
    const junk = newDevice()
    await two.deviceKeys.put(junk)
    await DeviceKeys.updateOne({ _id: junk.device_id }, { $set: { public_key: noPoint } })
    hers.send({ text: 'hello' })
    await shows(his, 'hello')
    expect(devicesIn(hers)).toEqual(['trusted', 'left out'])
  })

  test(
    'with a lost key say why messages are not opened, and are given the keys by another that is online',
    heavy,
    async () => {
      const [hers, fresh] = [memoryKeys(), memoryKeys()]
      const [one, two] = [await enter(ada, { keys: hers }), await enter(bo)]
      conversationOf(one, two).send({ text: 'kept' })
      await shows(conversationOf(two, one), 'kept')
      leave(one)
      leave(two)
      const anew = await enter(bo, { keys: fresh })
      await shows(conversationOf(anew, one), 'locked: no key')
      leave(anew)
      await enter(ada, { keys: hers })
      await shows(conversationOf(await enter(bo, { keys: fresh }), one), 'kept')
    },
  )

  solo('keep their keys in a file of their owner alone, and open what they could before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plaza-keys-'))
    const path = join(folder, 'keys.json')
    const { one, two, hers, his } = await pair({ keys: fileKeys(path) })
    hers.send({ text: 'still here' })
    await shows(his, 'still here')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readFile(path, 'utf8')).not.toContain('still here')
    leave(one)
    leave(two)
    await shows(conversationOf(await enter(bo, { keys: fileKeys(path) }), one), 'still here')
    await rm(folder, { recursive: true })
  })

  solo('give two clients of one store one key', async () => {
    const keys = memoryKeys()
    const [one, two] = await Promise.all([enter(ada, { keys }), enter(ada, { keys })])
    const other = await enter(bo)
    conversationOf(other, one).send({ text: 'both' })
    await shows(conversationOf(one, other), 'both')
    await shows(conversationOf(two, other), 'both')
    expect((await one.deviceKeys.list({ addresses: one.account })).devices).toHaveLength(1)
  })
})

/** What the page sealed before: by a key that follows from the ids of the two accounts. */
async function sealedByOldPage(id: string, text: string): Promise<string> {
  const utf8 = new TextEncoder()
  const secret = await crypto.subtle.importKey('raw', utf8.encode(id), 'HKDF', false, ['deriveKey'])
  const how = { name: 'HKDF', hash: 'SHA-256', salt: utf8.encode('plaza direct'), info: utf8.encode('v1') }
  const key = await crypto.subtle.deriveKey(how, secret, { name: 'AES-GCM', length: 256 }, false, ['encrypt'])
  const iv = crypto.getRandomValues(new Uint8Array(12)).fill(9, 0, 1)
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, utf8.encode(text))
  return Buffer.concat([iv, new Uint8Array(sealed)]).toString('base64')
}
