import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordOf } from '#server/domains/events'
import { hasWaits } from '#server/domains/rooms/messages/row-waits'
import { ALPHA } from '#server/domains/rooms/rooms/alpha'
import type { Node } from '#server/kernel/context'
import { retryOnStart } from '#server/kernel/retry-on-start'
import { rooms } from '#shared/api/rooms/rooms'
import { isAgent } from '#shared/kit/room-agents'
import { settleAgents } from './agents.ts'
import { foundDinner } from './dinner.ts'
import { Life } from './life.ts'
import { people, settlePeople } from './people.ts'
import { oneOf } from './script.ts'
import { foundStage, seed } from './seed.ts'
import { stages } from './stage.ts'
import { keepLive } from './streamer.ts'

const alonePauseMilliseconds = 5 * 60_000

/** The scripted life of the demo: rooms with a past, and people who go on talking while somebody is there. */
export async function startDemo(
  node: Node,
  betweenActs: () => number = () => randomInt(1_500, 5_000),
): Promise<{ stop(): void }> {
  const ended = new AbortController()
  const founded = Promise.all(stages.map((stage) => retryOnStart(() => foundStage(node, stage))))
  showAround(node, founded, ended.signal)
  await founded
  await retryOnStart(() => foundDinner(node))
  await retryOnStart(() => settlePeople(node))
  if (node.services.model) await retryOnStart(() => settleAgents(node, ended.signal))
  await Promise.all(stages.map((stage, place) => retryOnStart(() => seed(node, stage, place))))
  void live(node, ended.signal, betweenActs)
  void keepLive(node, ended.signal)
  return { stop: () => ended.abort() }
}

/** Adds new guests to all rooms of the demo, even while those are being filled. */
function showAround(node: Node, founded: Promise<unknown>, signal: AbortSignal): void {
  node.log.onRows((key, rows) => {
    if (key !== ALPHA || signal.aborted) return
    for (const { type, target } of rows) {
      const joined = target !== null && recordOf(type)?.admits !== undefined
      const isGuest = joined && !people.includes(target) && !isAgent(target)
      if (isGuest) void founded.then(() => bringAlong(node, target)).catch(() => {})
    }
  })
}

async function bringAlong(node: Node, account: string): Promise<void> {
  const channels = stages.filter(({ channel }) => channel !== null)
  await Promise.all(channels.map(({ room }) => node.callAs(account, rooms.join, { room }))).catch((error: unknown) =>
    node.logger.warn({ error }, 'a newcomer was not shown around'),
  )
}

async function live(node: Node, signal: AbortSignal, betweenActs: () => number): Promise<void> {
  const rooms = stages.map((stage) => new Life(node, stage, signal))
  let seenAt = node.now()
  while (!signal.aborted) {
    try {
      await sleep(betweenActs(), undefined, { signal, ref: false })
      if (hasWaits(node) || node.live.audienceSize('/rooms', 'all') > 0) seenAt = node.now()
      if (node.now() - seenAt > alonePauseMilliseconds) continue
      const ready = rooms.filter(({ isReady }) => isReady)
      const watched = ready.filter(({ isWatched }) => isWatched)
      if (ready.length > 0) await oneOf(watched.length > 0 && randomInt(2) === 0 ? watched : ready).goOn()
    } catch (error) {
      if (!signal.aborted) node.logger.warn({ error }, 'the demo stumbled')
    }
  }
}
