import webPushLibrary from 'web-push'
import { AppError } from '#shared/errors'
import type { Web } from '../web/port.ts'
import { type Push, publicKeyOf } from './port.ts'
import { checkSubscription } from './subscription.ts'

const timeoutMilliseconds = 10_000
const gone = [404, 410]
/** Asked again later, it may be taken. */
const later = (status: number) => status === 408 || status === 429 || status >= 500

interface Sender {
  /** In base64url. */
  privateKey: string
  /** The contact for push services: `mailto:` or `https://`. */
  subject: string
  /** The hosts of push services. */
  hosts: readonly string[]
}

/** Web Push (RFC 8030), sealed for the browser (RFC 8291) and signed by the server (RFC 8292). */
export function webPush({ privateKey, subject, hosts }: Sender, web: Pick<Web, 'ask'>): Push {
  const publicKey = publicKeyOf(privateKey)
  const vapidDetails = { subject, publicKey, privateKey }
  return {
    publicKey,
    check: (subscription) => checkSubscription(subscription, hosts),
    async send(subscription, { text, topic, seconds, urgency }, signal) {
      checkSubscription(subscription, hosts)
      const { endpoint, p256dh, auth } = subscription
      const { headers, body } = webPushLibrary.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
        vapidDetails,
        TTL: seconds,
        topic,
        urgency,
      })
      const { status } = await web.ask(endpoint, {
        body,
        headers: textsOf(headers),
        onlyStatus: true,
        timeoutMilliseconds,
        ...(signal ? { signal } : {}),
      })
      if (status >= 200 && status < 300) return 'sent'
      if (gone.includes(status)) return 'gone'
      if (!later(status)) return 'refused'
      throw new AppError('UPSTREAM_ERROR', { message: `The push service answered ${status}` })
    },
  }
}

const textsOf = (headers: object) =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.toLowerCase() !== 'content-length')
      .map(([name, value]) => [name, String(value)]),
  )
