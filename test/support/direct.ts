import { createECDH, randomBytes } from 'node:crypto'
import { deviceKeys } from '#shared/api/people/device-keys'
import type { Person } from './people.ts'

const random = (bytes: number) => randomBytes(bytes).toString('base64url')
export const newKeyId = () => random(16)
export const newPublicKey = () => createECDH('prime256v1').generateKeys('base64url')
/** What has the form of a point, and is on no curve. */
export const noPoint = `B${'A'.repeat(86)}`
/** What looks like a key, sealed to a device. */
export const envelopeFor = (device_id: string) => ({ device_id, enc: random(65), sealed: random(48) })

export const newDevice = (name = 'A laptop') => ({
  device_id: newKeyId(),
  public_key: newPublicKey(),
  name,
  certificate: null,
})

/** A new device of somebody, as the server knows it. */
export const deviceOf = async (who: Person): Promise<string> =>
  (await who.does('rest', deviceKeys.put, newDevice())).device.device_id

/** A message of version 1 under an epoch, as far as the server can tell. */
export const messageUnder = (epoch: string, iv: Buffer = randomBytes(12), bytes = 40) =>
  Buffer.concat([Buffer.of(1), Buffer.from(epoch, 'base64url'), iv, randomBytes(bytes)]).toString('base64')
