import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { seal, tryUnseal } from '#server/kernel/seal'
import { createAnswerCache } from '#server/kernel/store/kept-answers'
import { job } from '#server/kernel/work/jobs'
import {
  type Access,
  type BusyTime,
  type Calendars,
  type Grant,
  NoAccess,
  type OpenedCalendar,
} from '#server/ports/calendar/port'
import type { CalendarConnection } from '#shared/api/meetings/calendar'
import { AppError } from '#shared/errors'
import { Connections, type StoredConnection } from './model.ts'

const minute = 60_000
/** Access is refreshed so long before its end: by the job, and at use. */
const early = { byItself: 10 * minute, anyway: minute }

const idOf = (account: string): string => `google:${account}`
const boundTo = (_id: string): string => `calendar ${_id}`

export const calendarOf = (account: string): Promise<StoredConnection | null> =>
  Connections.findOne({ _id: idOf(account) }).lean<StoredConnection>()

/** Throws SERVICE_UNAVAILABLE without configured calendars. */
function calendarProvider({ services }: Node): Calendars {
  if (services.calendars) return services.calendars
  throw new AppError('SERVICE_UNAVAILABLE', { message: 'Calendars are not configured here' })
}

/** Revokes unused access at the provider. */
export const calendarRevocation = job({
  kind: 'calendar.revoke',
  payload: z.object({ token: z.string() }),
  run: async ({ token }, { node }) => node.services.calendars?.revoke(token),
})

/** Stores the granted access in place of an earlier one. */
export async function storeConnection(node: Node, account: string, grant: Grant): Promise<void> {
  const { provider } = calendarProvider(node)
  const _id = idOf(account)
  const before = await calendarOf(account)
  const fields: Omit<StoredConnection, '_id'> = {
    wallet_address: account,
    provider,
    ...(await sealedAccess(node, _id, grant)),
    refresh_token: seal(node.settings.sessionKeys, grant.refreshToken, boundTo(_id)),
    calendar_id: grant.calendarId,
    calendar_email: grant.email,
    is_active: true,
    created_at: new Date(node.now()),
  }
  await Connections.updateOne({ _id }, { $set: fields }, { upsert: true })
  // Revoking ends all access of the provider's account, so the same account is left alone.
  if (before && before.calendar_email !== grant.email) await revokeUnused(node, before)
}

/** Deletes a connection, if any. */
export async function dropConnection(node: Node, account: string): Promise<void> {
  const dropped = await Connections.findOneAndDelete({ _id: idOf(account) }).lean<StoredConnection>()
  if (dropped) await revokeUnused(node, dropped)
}

/** Revokes a token, unless another account here uses the same calendar. */
async function revokeUnused(node: Node, connection: StoredConnection): Promise<void> {
  const { calendar_email } = connection
  if (calendar_email !== null && (await Connections.exists({ calendar_email }))) return
  const token = tryUnsealToken(node, connection, connection.refresh_token)
  if (token !== null) await node.jobs.add(calendarRevocation, { token })
}

/** Calls `work` with access to a calendar. Throws NoAccess, and marks the connection, if access was lost. */
export async function withCalendar<T>(
  node: Node,
  connection: StoredConnection,
  work: (calendar: OpenedCalendar, calendars: Calendars) => Promise<T>,
): Promise<T> {
  const calendars = calendarProvider(node)
  if (!connection.is_active) throw new NoAccess('This calendar has to be connected again')
  const workBy = (accessToken: string) => work({ accessToken, calendarId: connection.calendar_id }, calendars)
  const known = connection.token_expires_at.getTime() - early.anyway > node.now()
  return markLostAccess(connection, async () => {
    if (!known) return workBy(await refresh(node, connection))
    return workBy(unsealToken(node, connection, connection.access_token)).catch(async (error: unknown) => {
      if (!(error instanceof NoAccess)) throw error
      return workBy(await refresh(node, connection))
    })
  })
}

/** Marks a connection that lost its access, unless it was renewed meanwhile. */
async function markLostAccess<T>(connection: StoredConnection, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NoAccess) await Connections.updateOne(sameAs(connection), { $set: { is_active: false } })
    throw error
  }
}

async function refresh(node: Node, connection: StoredConnection): Promise<string> {
  const access = await calendarProvider(node).refresh(unsealToken(node, connection, connection.refresh_token))
  await Connections.updateOne(sameAs(connection), { $set: await sealedAccess(node, connection._id, access) })
  return access.accessToken
}

const sameAs = ({ _id, refresh_token }: StoredConnection) => ({ _id, refresh_token })

async function sealedAccess(node: Node, _id: string, { accessToken, seconds }: Access) {
  const at = node.now()
  const until = at + seconds * 1_000
  return {
    access_token: seal(node.settings.sessionKeys, accessToken, boundTo(_id)),
    token_expires_at: new Date(until),
    last_sync_at: new Date(at),
    refresh_at: await refreshAt(node, _id, Math.max(at + minute, until - early.byItself)),
  }
}

function unsealToken(node: Node, connection: StoredConnection, sealed: string): string {
  const token = tryUnsealToken(node, connection, sealed)
  if (token === null) throw new NoAccess('The key this calendar was sealed with is gone')
  return token
}

const tryUnsealToken = ({ settings }: Node, { _id }: StoredConnection, sealed: string): string | null =>
  tryUnseal(settings.sessionKeys, sealed, boundTo(_id))

/** Refreshes access before it expires. A silent provider is asked again a minute later. */
export const calendarRefresh = job({
  kind: 'calendar.refresh',
  payload: z.object({ connection: z.string(), at: z.number() }),
  atOnce: 2,
  async run({ connection: _id, at }, { node }) {
    const due = { _id, is_active: true, refresh_at: new Date(at) }
    const connection = node.services.calendars && (await Connections.findOne(due).lean<StoredConnection>())
    if (!connection) return
    await markLostAccess(connection, () => refresh(node, connection)).catch(async (error: unknown) => {
      node.logger.warn({ error }, 'a calendar was not refreshed')
      if (error instanceof NoAccess) return
      const refresh_at = await refreshAt(node, _id, node.now() + minute)
      await Connections.updateOne(sameAs(connection), { $set: { refresh_at } })
    })
  },
})

/** Stores the job before the connection names its time. */
async function refreshAt({ jobs }: Node, connection: string, at: number): Promise<Date> {
  await jobs.add(calendarRefresh, { connection, at }, `${calendarRefresh.kind} ${connection} ${at}`, at)
  return new Date(at)
}

/** Older versions stored no job for a connection. */
export async function scheduleOlderRefreshes(node: Node): Promise<void> {
  const active = await Connections.find({ is_active: true }, { refresh_at: 1 }).lean<StoredConnection[]>()
  for (const { _id, refresh_at } of active) await refreshAt(node, _id, refresh_at.getTime())
}

/** A connection without its tokens. */
export function shownConnection(connection: StoredConnection): CalendarConnection {
  const { _id: id, wallet_address, provider, calendar_id, calendar_email, is_active } = connection
  const { last_sync_at, created_at } = connection
  return {
    ...{ id, wallet_address, provider, calendar_id, calendar_email, is_active },
    last_sync_at: last_sync_at.toISOString(),
    created_at: created_at.toISOString(),
  }
}

const busyMinute = 60_000
const day = 86_400_000
/** The span of one question, so that similar spans share an answer. */
const block = 32 * day
/** Usual questions are nearer; others have a limit of their own. */
const near = 100 * day
const answerMilliseconds = 5_000
/** Questions about one calendar in a minute, of all, and of a booking address. */
const most = { near: 30, far: 30, now: 120, byAddress: 10 }

const keptOn = nodeState(() =>
  createAnswerCache<readonly BusyTime[]>({
    secondsOf: () => 60,
    weightOf: (busy) => busy.length,
    mostWeight: 200_000,
  }),
)

/** The busy times of a connected calendar, at most a minute old. Throws if the calendar cannot be asked. */
export async function cachedBusyTimes(
  node: Node,
  account: string,
  { start, end }: BusyTime,
): Promise<readonly BusyTime[]> {
  const connection = await calendarOf(account)
  if (!connection) return []
  const first = Math.floor(start / block)
  const blocks = Array.from({ length: Math.floor((end - 1) / block) - first + 1 }, (_, at) => (first + at) * block)
  return (await Promise.all(blocks.map((begins) => keptBlock(node, connection, begins)))).flat()
}

async function keptBlock(node: Node, connection: StoredConnection, start: number): Promise<readonly BusyTime[]> {
  const { _id, created_at } = connection
  const now = node.now()
  const span = { start, end: start + block }
  const question = [_id, created_at.getTime(), connection.is_active, start, Math.floor(now / busyMinute)].join(' ')
  const kind = span.end > now && span.start < now + near ? 'near' : 'far'
  const { answer } = await keptOn(node).of(question, async () => {
    if (!(await node.limits.throttle(`calendar-${kind}`, _id, most[kind], 60))) throw calendarLimitError()
    return fetchBusyTimes(node, connection, span)
  })
  return answer
}

/** The current busy times for a booking. Throws RATE_LIMIT_EXCEEDED for an address that asks too often. */
export async function freshBusyTimes(
  node: Node,
  account: string,
  span: BusyTime,
  address: string,
): Promise<readonly BusyTime[]> {
  const connection = await calendarOf(account)
  if (!connection) return []
  const { limits } = node
  const retryAfter = await limits.wait('calendar-by', `${address} ${account}`, most.byAddress, 60)
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
  if (!(await limits.throttle('calendar-now', account, most.now, 60))) throw calendarLimitError()
  return fetchBusyTimes(node, connection, span)
}

function fetchBusyTimes(node: Node, connection: StoredConnection, span: BusyTime): Promise<readonly BusyTime[]> {
  const signal = AbortSignal.timeout(answerMilliseconds)
  return withCalendar(node, connection, (calendar, calendars) => calendars.busy(calendar, span, signal))
}

const calendarLimitError = () =>
  new AppError('SERVICE_UNAVAILABLE', { message: 'This calendar is asked too often', retryAfter: 60 })
