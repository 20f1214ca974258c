import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { Subscription } from '#server/ports/push/port'

const saltBytes = 16
const headBytes = saltBytes + 5
const tagBytes = 16

/** A browser that subscribes at an endpoint and decrypts its notices (RFC 8188 and 8291), with code of its own. */
export function pushBrowser(endpoint: string) {
  const pair = createECDH('prime256v1')
  const point = pair.generateKeys()
  const secret = randomBytes(16)
  const subscription: Subscription = {
    endpoint,
    p256dh: point.toString('base64url'),
    auth: secret.toString('base64url'),
  }
  return { subscription, asJson: jsonOf(subscription), read }

  function read(body: Buffer): string {
    const salt = body.subarray(0, saltBytes)
    const senderAt = headBytes + (body[headBytes - 1] ?? 0)
    const sender = body.subarray(headBytes, senderAt)
    const about = Buffer.concat([Buffer.from('WebPush: info\0'), point, sender])
    const shared = derive(pair.computeSecret(sender), secret, about, 32)
    const key = derive(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
    const nonce = derive(shared, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
    const opening = createDecipheriv('aes-128-gcm', key, nonce)
    opening.setAuthTag(body.subarray(-tagBytes))
    const padded = Buffer.concat([opening.update(body.subarray(senderAt, -tagBytes)), opening.final()])
    return padded.subarray(0, padded.lastIndexOf(2)).toString('utf8')
  }
}

const derive = (key: Buffer, salt: Buffer, about: Buffer, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, about, bytes))

/** As `PushSubscription.toJSON()` writes it. */
const jsonOf = ({ endpoint, p256dh, auth }: Subscription) => ({ endpoint, keys: { p256dh, auth } })
