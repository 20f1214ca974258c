import type { z } from 'zod'
import type { Node, SignedIn } from '#server/kernel/context'
import type { Device } from '#shared/api/people/sessions'
import { type SessionRecord, Sessions } from './model.ts'

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
