import { AppError } from '#shared/errors'
import { isPublicKey, type Subscription } from './port.ts'

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
