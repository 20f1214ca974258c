import { AppError } from '#shared/errors'
import { newPrivateKey, type Push, type PushMessage, publicKeyOf, type Subscription } from './port.ts'
import { checkSubscription } from './web-push.ts'

interface FakePush extends Push {
  /** What browsers were given, in order. */
  sent: { endpoint: string; message: PushMessage }[]
  /** Whose services were asked, whatever they answered. */
  asked: string[]
  /** The answers of some endpoints, or of all under `*`; others accept everything. */
  moods: Map<string, 'gone' | 'refused' | 'UPSTREAM_ERROR' | 'TIMEOUT'>
}

/** Push services in memory, at `push.test`. */
export function fakePush(): FakePush {
  const hosts = ['push.test', '*.push.test']
  const push: FakePush = {
    publicKey: publicKeyOf(newPrivateKey()),
    sent: [],
    asked: [],
    moods: new Map(),
    check: (subscription: Subscription) => checkSubscription(subscription, hosts),
    async send(subscription, message, signal) {
      checkSubscription(subscription, hosts)
      signal?.throwIfAborted()
      const { endpoint } = subscription
      push.asked.push(endpoint)
      const mood = push.moods.get(endpoint) ?? push.moods.get('*')
      if (mood === 'gone' || mood === 'refused') return mood
      if (mood !== undefined) throw new AppError(mood)
      push.sent.push({ endpoint, message })
      return 'sent'
    },
  }
  return push
}
