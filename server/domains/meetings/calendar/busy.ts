import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { createAnswerCache } from '#server/kernel/store/kept-answers'
import type { BusyTime } from '#server/ports/calendar/port'
import { AppError } from '#shared/errors'
import { calendarOf, withCalendar } from './connections.ts'
import type { StoredConnection } from './model.ts'

const minute = 60_000
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
  const question = [_id, created_at.getTime(), connection.is_active, start, Math.floor(now / minute)].join(' ')
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
