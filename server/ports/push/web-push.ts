import { AppError } from '#shared/errors'
import type { Web } from '../web/port.ts'
import { isPublicKey, type Push, publicKeyOf, type Subscription } from './port.ts'

const authBytes = 16

/** Throws INVALID_PARAMETER where nobody may be asked there, or nothing can be sealed with the keys. Hosts are written as `EGRESS_HOSTS` is. */
export function checkSubscription({ endpoint, p256dh, auth }: Subscription, hosts: readonly string[]): void {
  if (!isOfPushService(endpoint, hosts))
    throw refused('subscription.endpoint is of no push service that this server asks')
  if (Buffer.from(auth, 'base64url').length !== authBytes) throw refused('subscription.keys.auth must be 16 bytes')
  if (!isPublicKey(p256dh)) throw refused('subscription.keys.p256dh is no public key')
}

function isOfPushService(endpoint: string, hosts: readonly string[]): boolean {
  if (!/^https:\/\/[^/]/i.test(endpoint) || !URL.canParse(endpoint)) return false
  const { hostname, port, username, password } = new URL(endpoint)
  return port === '' && username === '' && password === '' && hosts.some((host) => isAt(hostname, host))
}

const isAt = (name: string, host: string) => (host.startsWith('*.') ? name.endsWith(host.slice(1)) : name === host)
const refused = (message: string) => new AppError('INVALID_PARAMETER', { message })

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
      const { default: library } = await import('web-push')
      const { headers, body } = library.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
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
