import { expect, test } from 'vitest'
import { newKeys, publicKeyOf } from '#client/sdk/direct/envelope'
import { accepting, type Judged, trust } from '#client/sdk/direct/trust'
import { noPoint } from '#test/support/direct'

const address = '0xa'
const device = async (device_id: string, more: Partial<Judged> = {}): Promise<Judged> => ({
  address,
  device_id,
  public_key: await publicKeyOf(await newKeys(false)),
  vouched: 'none',
  isReadable: true,
  isThis: false,
  ...more,
})
const statesOf = (devices: readonly Judged[], pins = {}) =>
  trust(pins, devices, 0).states.map(({ deviceId, state }) => `${deviceId} ${state}`)

test('devices are trusted at first sight where their account vouches for none of them', async () => {
  expect(statesOf([await device('one'), await device('two')])).toEqual(['one trusted', 'two trusted'])
})

test('a device that nobody vouches for waits beside one for which its account vouches, at first sight too', async () => {
  const devices = [await device('vouched', { vouched: 'valid' }), await device('planted')]
  expect(statesOf(devices)).toEqual(['vouched trusted', 'planted waiting'])
  const { pins, states } = trust(undefined, devices, 0)
  expect(statesOf(devices, accepting(pins, states, 0))).toEqual(['vouched trusted', 'planted trusted'])
})

test('this device is trusted, and makes no other device of its account wait by that', async () => {
  const own = await device('this', { isThis: true })
  expect(statesOf([own, await device('other')])).toEqual(['this trusted', 'other trusted'])
  expect(statesOf([own, await device('other', { vouched: 'valid' })])).toEqual(['this trusted', 'other trusted'])
})

test('a device whose key is none is left out, and stops nothing', async () => {
  const junk = await device('junk', { public_key: noPoint, isReadable: false })
  expect(statesOf([await device('one'), junk])).toEqual(['one trusted', 'junk left out'])
  expect(statesOf([{ ...junk, vouched: 'valid' }])).toEqual(['junk left out'])
})
