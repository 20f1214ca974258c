import { randomBytes } from 'node:crypto'
import type { Context } from '#server/kernel/context'
import { KnownBrowsers } from './model.ts'
import { tokenHashOf } from './tokens.ts'

const yearMilliseconds = 365 * 24 * 60 * 60 * 1000
const hourSeconds = 3_600
/** Messages to one address or number in an hour: for one stranger, for all strangers, and for its owner. */
const most = { asker: 3, strangers: 9, owner: 3 }

/** The id of the calling browser, created if needed. */
export function ensureBrowserId(context: Context): string {
  const id = context.browser ?? randomBytes(32).toString('base64url')
  context.http?.setBrowserCookie(id)
  return id
}

const idOf = (browser: string, contact: string) => tokenHashOf(`${browser} ${contact}`)

/** Records that this browser's user receives messages at this address or number. */
export async function rememberBrowser(context: Context, contact: string): Promise<void> {
  const expires_at = new Date(context.node.now() + yearMilliseconds)
  await KnownBrowsers.updateOne(
    { _id: idOf(ensureBrowserId(context), contact) },
    { $set: { expires_at } },
    { upsert: true },
  )
}

/**
 * May a message be sent to this address or number? Strangers are counted singly and together. A browser that proved the
 * contact has its own limit, which strangers cannot use up.
 */
export async function maySendTo({ node, caller, browser }: Context, contact: string): Promise<boolean> {
  const isOwner = browser !== null && (await KnownBrowsers.findOne({ _id: idOf(browser, contact) }).lean()) !== null
  if (isOwner) return node.limits.guard('sent-to-owner', contact, most.owner, hourSeconds)
  return (
    (await node.limits.guard('sent-by', `${contact} ${caller.ip}`, most.asker, hourSeconds)) &&
    (await node.limits.guard('sent-to', contact, most.strangers, hourSeconds))
  )
}
