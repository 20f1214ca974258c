import { z } from 'zod'
import { reportedAmong } from '#server/domains/moderation/social/evidence'
import { pinsIn, rulesIn } from '#server/domains/rooms/room-state/facts'
import { ranks, standingOf } from '#server/domains/rooms/room-state/standing'
import type { Job, Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { pageRows } from '#server/log/limits'
import { RoomEvents } from '#server/log/model'
import type { RoomKey } from '#server/log/types'
import type { RulesPatch } from '#shared/api/moderation/verdict'
import { decidedMilliseconds, removeMessages } from './removals.ts'

/** Removals of a room are this far apart, so that a busy room has one for many messages. */
const stepMilliseconds = 20_000
/** A room with such a rule is looked at once a day at the least. */
const longestMilliseconds = 24 * 3_600_000
/** What is due stays for so long after a failure, and while a report is open. */
const againMilliseconds = 30_000

const Payload = z.object({
  room: z.string(),
  /** Removes this message alone. */
  id: z.string().optional(),
  /** The progress of the removal by one version of the rules; absent if the rules may be about to change. */
  place: z
    .object({
      version: z.number(),
      /** The ordinal of the last message that was looked at. */
      after: z.number(),
      /** Messages up to there that stayed. */
      stayed: z.array(z.string()),
    })
    .optional(),
})
type Place = NonNullable<z.infer<typeof Payload>['place']>

/** Removes what is due in a room, and plans the next removal. A change of the rules begins anew. */
export const expireMessages: Job<typeof Payload> = job({
  kind: 'messages.expire',
  payload: Payload,
  atOnce: 2,
  async run({ room, id, place }, { node, signal }) {
    const { message_ttl, version } = await node.log.ask(room, rulesIn)
    if (!message_ttl || (place && place.version !== version)) return
    if (id !== undefined) {
      await removeAged(node, room, [id], signal)
      return
    }
    if (!place) {
      const first = { version, after: 0, stayed: [] }
      await node.jobs.add(expireMessages, { room, place: first }, idOf(room, version, 'first'))
      return
    }
    const next = await removeDue(node, room, message_ttl * 1_000, place, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      node.logger.warn({ error, room }, 'messages that are due stay for now')
      return { place, dueAt: node.now() + againMilliseconds }
    })
    await plan(node, { room, place: next.place }, next.dueAt)
  },
})

/** Plans a look at a room whose rules this account is about to change. The job is stored before the change, so that no crash comes between. */
export async function planExpiry(node: Node, room: RoomKey, account: string, { message_ttl }: RulesPatch) {
  const isMeant = await node.log.ask(
    room,
    (view) =>
      standingOf(view, account).rank > ranks.none && (message_ttl !== undefined || rulesIn(view).message_ttl > 0),
  )
  if (isMeant) await plan(node, { room }, node.now() + decidedMilliseconds)
}

/** The same for a message that is about to be unpinned. */
export async function planExpiryOf(node: Node, room: RoomKey, id: string): Promise<void> {
  const { message_ttl } = await node.log.ask(room, rulesIn)
  if (message_ttl) await plan(node, { room, id }, node.now() + decidedMilliseconds)
}

/** Jobs with the same payload at nearly the same time become one job. */
async function plan(node: Node, payload: z.infer<typeof Payload>, time: number): Promise<void> {
  const { room, id, place } = payload
  const dueAt = Math.ceil(time / stepMilliseconds) * stepMilliseconds
  await node.jobs.add(expireMessages, payload, idOf(room, id ?? place?.version ?? 'rules', dueAt), dueAt)
}

const idOf = (...parts: readonly (string | number)[]): string => [expireMessages.kind, ...parts].join(' ')

/** Times never fall within a room, so that messages are due in their order. */
async function removeDue(
  node: Node,
  room: RoomKey,
  ttl: number,
  { version, after, stayed: before }: Place,
  signal: AbortSignal,
): Promise<{ place: Place; dueAt: number }> {
  const now = node.now()
  const stayed = await removeAged(node, room, before, signal)
  for (let last = after; ; ) {
    const rows = await messagesAfter(room, last)
    const due = rows.filter(({ at }) => at + ttl <= now)
    const there = due.filter(({ body }) => !body.deleted).map(({ _id }) => _id)
    stayed.push(...(await removeAged(node, room, there, signal)))
    last = due.at(-1)?.n ?? last
    if (due.length === pageRows) continue
    const pins = await node.log.ask(room, pinsIn)
    const isAgain = stayed.some((id) => !pins.includes(id))
    const nextAt = (rows[due.length]?.at ?? now) + ttl
    const dueAt = Math.min(nextAt, now + (isAgain ? againMilliseconds : longestMilliseconds))
    return { place: { version, after: last, stayed }, dueAt }
  }
}

type Found = { _id: string; n: number; at: number; body: { deleted: unknown } }

const messagesAfter = (room: RoomKey, n: number): Promise<Found[]> =>
  RoomEvents.find({ room, n: { $gt: n, $lte: Number.MAX_SAFE_INTEGER } }, { n: 1, at: 1, 'body.deleted': 1 })
    .sort({ n: 1 })
    .limit(pageRows)
    .lean<Found[]>()

/** Removes messages that are old enough by the rules. It returns those that stay: pinned or in an open report. */
async function removeAged(node: Node, room: RoomKey, ids: readonly string[], signal: AbortSignal): Promise<string[]> {
  const reported = await reportedAmong(ids)
  const { stayed } = await removeMessages(
    node,
    room,
    ids.filter((id) => !reported.has(id)),
    {
      signal,
      mayGo: ({ at, body }, view, now) => {
        const { message_ttl } = rulesIn(view)
        return message_ttl > 0 && body.pinned === null && at + message_ttl * 1_000 <= now
      },
    },
  )
  return [...stayed, ...reported]
}
