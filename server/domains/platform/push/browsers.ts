import { createHash } from 'node:crypto'
import { signedInDevices } from '#server/domains/people/identity/devices'
import type { Node } from '#server/kernel/context'
import { upsert } from '#server/ports/database/port'
import type { Subscription } from '#server/ports/push/port'
import { PushBrowsers, type StoredBrowser } from './model.ts'

const browsersAtMost = 10
const askedAtOnce = 1_000

const idOf = (endpoint: string) => createHash('sha256').update(new URL(endpoint).href).digest('base64url')

/** Stores a browser for notices of one account; an account has ten at most. */
export async function storeBrowser(node: Node, account: string, device: string, given: Subscription): Promise<void> {
  const { endpoint, p256dh, auth } = given
  const now = new Date(node.now())
  const kept = { account, device, endpoint, p256dh, auth, updated_at: now }
  await upsert(() =>
    PushBrowsers.updateOne(
      { _id: idOf(endpoint) },
      { $set: kept, $setOnInsert: { created_at: now } },
      { upsert: true },
    ),
  )
  const older = await PushBrowsers.find({ account }, { _id: 1 }).sort({ updated_at: -1 }).skip(browsersAtMost).lean()
  if (older.length > 0) await PushBrowsers.deleteMany({ _id: { $in: older.map(({ _id }) => _id) }, account })
}

/** Forgets the browser of this endpoint, or all browsers of the account. */
export async function forgetBrowsers(account: string, endpoint: string | null): Promise<void> {
  await PushBrowsers.deleteMany({ account, ...(endpoint === null ? {} : { _id: idOf(endpoint) }) })
}

/** Forgets a browser whose subscription ended, unless it has subscribed again. */
export async function forgetBrowser({ _id, updated_at }: StoredBrowser): Promise<void> {
  await PushBrowsers.deleteOne({ _id, updated_at })
}

/** The browsers of signed-in devices of an account; others are forgotten. */
export async function browsersOf(node: Node, account: string): Promise<StoredBrowser[]> {
  const found = await PushBrowsers.find({ account }).sort({ updated_at: -1 }).lean<StoredBrowser[]>()
  const signedIn = await signedInDevices(
    node,
    found.map(({ device }) => device),
  )
  await Promise.all(found.filter(({ device }) => !signedIn.has(device)).map(forgetBrowser))
  return found.filter(({ device }) => signedIn.has(device)).slice(0, browsersAtMost)
}

/** Does anybody have a browser? */
export const hasSubscribers = async (): Promise<boolean> => (await PushBrowsers.exists({})) !== null

/** The accounts among these that have a browser. */
export async function subscribedAccounts(accounts: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (let at = 0; at < accounts.length; at += askedAtOnce) {
    const some = { account: { $in: accounts.slice(at, at + askedAtOnce) } }
    for (const { account } of await PushBrowsers.find(some, { account: 1 }).lean()) found.add(account)
  }
  return [...found]
}
