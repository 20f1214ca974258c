import type { DeviceKey } from '#shared/api/people/device-keys'
import type { DirectDevice } from '../types.ts'
import { bytesOf } from './bytes.ts'
import type { Vouched } from './certificate.ts'
import type { Pin, Pins } from './store.ts'

export type Judged = Pick<DeviceKey, 'address' | 'device_id' | 'public_key'> & {
  vouched: Vouched
  /** Its key is one: messages can be sealed to it. */
  isReadable: boolean
  isThis: boolean
}

/**
 * Whom messages are sealed to. The devices that an account has when it is first seen are trusted at sight, unless it vouches for others of
 * them; and so is a later one for which the account itself vouches. Any other waits until the person accepts it. A key that its certificate
 * does not fit is never sealed to, and one that is no key is left out.
 */
export function trust(pins: Pins | undefined, devices: readonly Judged[], now: number) {
  const isFirst = pins === undefined || Object.keys(pins).length === 0
  const isTrustedAtSight = isFirst && !devices.some(({ vouched, isReadable }) => vouched === 'valid' && isReadable)
  const after: Record<string, Pin> = { ...pins }
  const states: DirectDevice[] = []
  for (const device of devices) {
    const { address, device_id, public_key: key, isReadable } = device
    const vouched = device.isThis ? 'valid' : device.vouched
    const pin = pins?.[device_id]
    const isVouched = vouched === 'valid'
    const isSame = pin?.key === key
    if (!pin && isReadable && vouched !== 'invalid')
      after[device_id] = {
        key,
        accepted: isTrustedAtSight || isVouched,
        certified: isVouched,
        at: now,
        isNew: !isFirst,
      }
    else if (isSame && isVouched) after[device_id] = { ...pin, accepted: true, certified: true }
    const held = after[device_id]
    states.push({
      address,
      deviceId: device_id,
      key,
      isVouched,
      isNew: held?.isNew ?? true,
      since: held?.at ?? now,
      state: isReadable ? stateOf(vouched, pin, key, held) : 'left out',
    })
  }
  return { pins: after as Pins, states }
}

function stateOf(vouched: Vouched, pin: Pin | undefined, key: string, held: Pin | undefined): DirectDevice['state'] {
  const isSame = pin?.key === key
  if (isSame && pin.isLeftOut) return 'left out'
  if (vouched === 'invalid' && !(isSame && pin.accepted)) return 'forged'
  if (pin && !isSame) return 'changed'
  return held?.accepted ? 'trusted' : 'waiting'
}

/** After the person has accepted what the devices of an account are now. What is forged stays left out. */
export const accepting = (pins: Pins | undefined, states: readonly DirectDevice[], now: number): Pins => ({
  ...pins,
  ...Object.fromEntries(
    states
      .filter(({ state }) => state === 'waiting' || state === 'changed' || state === 'forged')
      .map(({ deviceId, key, isVouched, state }): [string, Pin] => [
        deviceId,
        {
          key,
          accepted: state !== 'forged',
          certified: isVouched,
          at: now,
          isNew: true,
          isLeftOut: state === 'forged',
        },
      ]),
  ),
})

const groups = 12

/**
 * What both people compare, to know that nobody stands between them: twelve groups of five digits, equal on both sides. It follows from the
 * keys of both people's devices and nothing else.
 */
export async function safetyNumber(
  devices: readonly { address: string; deviceId: string; key: string }[],
): Promise<string[]> {
  const sorted = devices.map(({ address, deviceId, key }) => [address, deviceId, key].join(' ')).sort()
  const text = ['plaza safety number v1', ...sorted].join('\n')
  const first = new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(text)))
  const second = new Uint8Array(await crypto.subtle.digest('SHA-256', first))
  const bytes = new Uint8Array([...first, ...second])
  return Array.from({ length: groups }, (_, at) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(at * 5, at * 5 + 5)
    const number = ((((a * 256 + b) * 256 + c) * 256 + d) * 256 + e) % 100_000
    return `${number}`.padStart(5, '0')
  })
}
