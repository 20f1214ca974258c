import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { Context, Node, SignedIn } from '#server/kernel/context'
import type { Device } from '#shared/api/people/sessions'
import { KnownBrowsers, type SessionRecord, Sessions } from './model.ts'
import { tokenHashOf } from './tokens.ts'

/** The caller's devices: one row each, however often refreshed. */
export async function listDevices(node: Node, { account, session }: SignedIn): Promise<z.input<typeof Device>[]> {
  const now = new Date(node.now())
  const records = await Sessions.find({ user_address: account, refresh_expires_at: { $gt: now } })
    .sort({ created_at: 1 })
    .lean<SessionRecord[]>()
  const lines = new Map<string, SessionRecord[]>()
  for (const record of records) lines.set(record.family, [...(lines.get(record.family) ?? []), record])
  const devices = [...lines.values()].filter((line) => line.some((one) => isOpen(one, now)))
  return devices
    .map((line) => deviceOf(line, session.id))
    .sort((one, other) => other.last_used_at.localeCompare(one.last_used_at))
}

/** The device of a session, named by its first session; null for other ids, such as a service token. */
export async function deviceOfSession(session: string): Promise<string | null> {
  const record = await Sessions.findOne({ _id: session }, { family: 1 }).lean<SessionRecord>()
  return record?.family ?? null
}

/** The devices among these that are signed in. */
export async function signedInDevices(node: Node, devices: readonly string[]): Promise<Set<string>> {
  if (devices.length === 0) return new Set()
  const now = new Date(node.now())
  const records = await Sessions.find({ family: { $in: [...devices] }, refresh_expires_at: { $gt: now } }).lean<
    SessionRecord[]
  >()
  return new Set(records.filter((record) => isOpen(record, now)).map(({ family }) => family))
}

/** Is the session valid, or can it be refreshed? */
const isOpen = ({ expires_at, refreshed_at }: SessionRecord, now: Date) => expires_at > now || refreshed_at === null

function deviceOf(line: readonly SessionRecord[], current: string) {
  const latest = line.reduce((one, other) => (other.last_used_at >= one.last_used_at ? other : one))
  return {
    id: latest._id,
    auth_method: latest.auth_method,
    created_at: new Date(Math.min(...line.map(({ created_at }) => created_at.getTime()))).toISOString(),
    last_used_at: latest.last_used_at.toISOString(),
    expires_at: new Date(Math.max(...line.map(({ expires_at }) => expires_at.getTime()))).toISOString(),
    user_agent: latest.user_agent,
    ip_address: latest.ip_address,
    is_current: line.some(({ _id }) => _id === current),
  }
}

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
