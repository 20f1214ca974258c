import type { Node } from '#server/kernel/context'
import { createAnswerCache } from '#server/kernel/kept-answers'
import { nodeState } from '#server/kernel/node-state'
import type { Busy } from '#server/ports/calendar/port'
import { AppError } from '#shared/errors'
import { connectionOf, withCalendar } from './connections.ts'
import type { StoredConnection } from './model.ts'

const minute = 60_000
const day = 86_400_000
/** What is asked for at once, so that spans that differ a little are one question. */
const block = 32 * day
/** Free times are asked for no further ahead as a rule: who asks further takes nothing from these. */
const near = 100 * day
const answerMilliseconds = 5_000
/** What is asked about one calendar in a minute, whoever asks; and by one address that books. */
const most = { near: 30, far: 30, now: 120, byAddress: 10 }

const keptOn = nodeState(() =>
  createAnswerCache<readonly Busy[]>({
    secondsOf: () => 60,
    weightOf: (busy) => busy.length,
    mostWeight: 200_000,
  }),
)

/**
 * When an account is busy by its calendar, as that was told within the last minute; never where it has connected none. Throws where the
 * calendar cannot be asked.
 */
export async function busyLately(node: Node, account: string, { start, end }: Busy): Promise<readonly Busy[]> {
  const connection = await connectionOf(account)
  if (!connection) return []
  const first = Math.floor(start / block)
  const blocks = Array.from({ length: Math.floor((end - 1) / block) - first + 1 }, (_, at) => (first + at) * block)
  return (await Promise.all(blocks.map((begins) => keptBlock(node, connection, begins)))).flat()
}

async function keptBlock(node: Node, connection: StoredConnection, start: number): Promise<readonly Busy[]> {
  const { _id, created_at } = connection
  const now = node.now()
  const span = { start, end: start + block }
  const question = [_id, created_at.getTime(), connection.is_active, start, Math.floor(now / minute)].join(' ')
  const kind = span.end > now && span.start < now + near ? 'near' : 'far'
  const { answer } = await keptOn(node).of(question, async () => {
    if (!(await node.limits.throttle(`calendar-${kind}`, _id, most[kind], 60))) throw tooOften()
    return ask(node, connection, span)
  })
  return answer
}

/** The same as it is now, for who books from an address: RATE_LIMIT_EXCEEDED where they do that too often. */
export async function busyNow(node: Node, account: string, span: Busy, address: string): Promise<readonly Busy[]> {
  const connection = await connectionOf(account)
  if (!connection) return []
  const { limits } = node
  const retryAfter = await limits.wait('calendar-by', `${address} ${account}`, most.byAddress, 60)
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
  if (!(await limits.throttle('calendar-now', account, most.now, 60))) throw tooOften()
  return ask(node, connection, span)
}

function ask(node: Node, connection: StoredConnection, span: Busy): Promise<readonly Busy[]> {
  const signal = AbortSignal.timeout(answerMilliseconds)
  return withCalendar(node, connection, (calendar, calendars) => calendars.busy(calendar, span, signal))
}

const tooOften = () =>
  new AppError('SERVICE_UNAVAILABLE', { message: 'This calendar is asked too often', retryAfter: 60 })
