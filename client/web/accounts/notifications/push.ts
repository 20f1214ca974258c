import type { Client } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { keepPush, pushKept } from './push-kept.ts'

/** Can this browser be notified while the page is closed? */
export const canPush = (): boolean =>
  'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

const worker = () => navigator.serviceWorker.getRegistration()

/** Is this browser notified for this account? */
export async function isPushedTo(account: string): Promise<boolean> {
  if (!canPush() || !isSameAccount(pushKept(), account) || Notification.permission !== 'granted') return false
  return ((await (await worker())?.pushManager.getSubscription()) ?? null) !== null
}

/** Turns on notifications of the account in this browser; false if its user refuses them. */
export async function turnOn(client: Client, account: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false
  await navigator.serviceWorker.register('/sw.js')
  const { pushManager } = await navigator.serviceWorker.ready
  const { publicKey } = await client.push.publicKey({})
  const subscription = await subscribed(pushManager, publicKey)
  await client.push.subscribe({ subscription: jsonOf(subscription) })
  keepPush(account)
  return true
}

/** Turns off notifications in this browser, even if the server cannot be reached. */
export async function turnOff(client: Client): Promise<void> {
  const subscription = await (await worker())?.pushManager.getSubscription()
  await subscription?.unsubscribe()
  keepPush(null)
  // What it does not hear from here, its push service says the next time that it is asked.
  if (subscription) await client.push.unsubscribe({ endpoint: subscription.endpoint }).catch(() => {})
}

/**
 * Renews the subscription that was turned on here, also if the browser has dropped it. Until then, and while its device
 * is signed out, the browser is not notified.
 */
export async function goOn(client: Client, account: string): Promise<void> {
  if (!canPush() || !isSameAccount(pushKept(), account) || Notification.permission !== 'granted') return
  // The page and its settings ask at once after a reload.
  renewal ??= turnOn(client, account).finally(() => {
    renewal = null
  })
  await renewal
}
let renewal: Promise<boolean> | null = null

/** A subscription is good for one key: where the server has another now, the browser subscribes anew. */
async function subscribed(manager: PushManager, applicationServerKey: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey }
  try {
    return await manager.subscribe(options)
  } catch (error) {
    const before = await manager.getSubscription()
    if (!before) throw error
    await before.unsubscribe()
    return manager.subscribe(options)
  }
}

function jsonOf(subscription: PushSubscription) {
  const { endpoint = '', keys: { p256dh = '', auth = '' } = {} } = subscription.toJSON()
  return { endpoint, keys: { p256dh, auth } }
}
