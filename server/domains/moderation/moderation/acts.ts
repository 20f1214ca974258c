import { removedBy } from '#server/domains/events'
import { stepsOfTrial } from '#server/domains/moderation/verdict/patterns'
import { firstMessageSince } from '#server/domains/rooms/messages/history'
import { pinMessage } from '#server/domains/rooms/messages/index'
import { planPurge, purgeBody, removeMessage, removePurged } from '#server/domains/rooms/messages/removals'
import { planExpiry } from '#server/domains/rooms/messages/retention'
import { keyOf, visibleRoom } from '#server/domains/rooms/room-state/access'
import { messagesPurged } from '#server/domains/rooms/room-state/events/messages'
import { kinds } from '#server/domains/rooms/room-state/kinds'
import { presentRows, purgeableFrom } from '#server/domains/rooms/room-state/redaction'
import { messageOfRow } from '#server/domains/rooms/room-state/rendered'
import { entryOf } from '#server/domains/rooms/room-state/standing'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import { oweSteps } from '#server/kernel/limits/budgets'
import { RoomEvents } from '#server/log/model'
import { rowById } from '#server/log/store'
import { GLOBAL, type RoomKey } from '#server/log/types'
import type { moderation as contract } from '#shared/api/moderation/moderation'
import type { Act } from '#shared/api/moderation/moderation-acts'
import { AppError } from '#shared/errors'
import {
  actRecordOf,
  type Decision,
  type ModerationAct,
  type ModerationResult,
  millisecondsOf,
  needPermission,
  needReach,
  performModeration,
  type Scene,
  scenesOf,
} from './moderate.ts'
import {
  decideBan,
  decideDemotion,
  decideMute,
  decidePromotion,
  decideUnban,
  decideUnmute,
  decideWarning,
} from './people.ts'
import { addWord, decideRules, removeWord } from './rules.ts'

type ActResult = Awaited<ReturnType<Action<typeof contract.act>>>
const onPeople = {
  ban: decideBan,
  unban: decideUnban,
  mute: decideMute,
  unmute: decideUnmute,
  warn: decideWarning,
  promote: decidePromotion,
  demote: decideDemotion,
} as const
const onWords = { word_add: addWord, word_remove: removeWord } as const
const actionsWithoutRoom = new Set(['promote', 'demote', 'word_add', 'word_remove'])

export const act: Action<typeof contract.act> = async (input, context) => {
  const { account } = signedIn(context)
  if (input.room === null && !actionsWithoutRoom.has(input.action))
    throw new AppError('VALIDATION_ERROR', { message: 'room: this action needs a room' })
  if (input.room && !kinds[input.room.type].hasModerators && input.action !== 'rules')
    throw new AppError('VALIDATION_ERROR', { message: 'room: direct messages have no moderators' })
  const key = input.room === null ? GLOBAL : await keyOf(input.room)
  return perform(context, key, account, input)
}

function perform(context: Context, key: RoomKey, account: string, input: Act): Promise<ActResult> {
  switch (input.action) {
    case 'delete':
    case 'pin':
    case 'unpin':
      return onMessage(context, key, account, input)
    case 'purge':
      return purge(context, key, account, input)
    case 'rules':
      return setRules(context, key, account, input)
    case 'word_add':
    case 'word_remove':
      if (input.action === 'word_add' && input.patch?.is_regex) oweSteps(context.node, account, stepsOfTrial)
      return performAct(
        context,
        key,
        { account, cid: input.client_action_id, action: input.action },
        onWords[input.action](input),
      )
    default:
      return performAct(
        context,
        key,
        { account, target: needTarget(input), cid: input.client_action_id, action: input.action },
        onPeople[input.action](input),
      )
  }
}

const needTarget = ({ target }: Act): string => {
  if (!target) throw new AppError('VALIDATION_ERROR', { message: 'targetAddress required' })
  return target
}

async function performAct(
  context: Context,
  key: RoomKey,
  by: ModerationAct,
  decide: (scene: Scene) => Decision,
): Promise<ActResult> {
  const done = await performModeration(context, key, by, decide)
  return answer(done, actRecordOf(context.node, key, done), 0)
}

function answer(
  { row, pendingNodes, socketsHere }: Omit<ModerationResult, 'record'>,
  record: unknown,
  removed: number,
): ActResult {
  const takesOut = row !== null && removedBy(row) !== null
  return {
    entry: row && { id: row._id, seq: row.seq, hash: row.chain },
    effects: {
      sockets_removed: takesOut ? socketsHere : 0,
      messages_removed: removed,
      expires_at: row?.until == null ? null : new Date(row.until).toISOString(),
      pending_nodes: pendingNodes,
    },
    record,
  }
}

async function setRules(context: Context, key: RoomKey, account: string, input: Act): Promise<ActResult> {
  await planExpiry(context.node, key, account, input.patch?.rules ?? {})
  const act = { account, cid: input.client_action_id, action: 'rules' } as const
  return performAct(context, key, act, decideRules(input))
}

/** A message is found by its id alone; its room decides about the rights. */
async function onMessage(
  context: Context,
  named: RoomKey,
  account: string,
  { action, message_id, reason, client_action_id }: Act,
): Promise<ActResult> {
  if (!message_id) throw new AppError('VALIDATION_ERROR', { message: 'messageId required' })
  const found = await RoomEvents.findOne({ _id: message_id }, { room: 1 }).lean()
  const key = found?.room ?? named
  if (action === 'delete') {
    const outcome = await removeMessage(context, key, account, message_id, reason ?? null, client_action_id)
    const stored = await rowById(key, message_id)
    const [row] = await presentRows(stored ? [stored] : [])
    const done = { row: outcome.row, pendingNodes: outcome.row ? outcome.pendingNodes : 0, socketsHere: 0 }
    return answer(done, row ? messageOfRow(row) : null, outcome.row ? 1 : 0)
  }
  const { row, pendingNodes, message } = await pinMessage(
    context,
    key,
    account,
    message_id,
    action === 'pin',
    client_action_id,
  )
  return answer({ row, pendingNodes, socketsHere: 0 }, message, 0)
}

/** Deletes the messages of an account in this room, all or recent ones, by one event. */
async function purge(context: Context, key: RoomKey, account: string, input: Act): Promise<ActResult> {
  const target = needTarget(input)
  const mayPurge = (scene: Scene) => {
    needPermission(scene, 'canDelete')
    needReach(scene, 'purge')
  }
  const sceneAt = await scenesOf(context.node, key, { account, target })
  await context.node.log.ask(key, (view, now) => {
    visibleRoom(view, account, now)
    mayPurge(sceneAt(view, now))
  })
  const { node } = context
  const { total } = await node.log.head(key)
  const length = input.duration ? millisecondsOf(input.duration) : null
  const first = length === null ? 1 : await firstMessageSince(key, node.now() - length, total)
  const { count, from_seq } = await purgeableFrom(key, target, first)
  if (count > 0) await planPurge(node, key, target)
  const done = await performModeration(
    context,
    key,
    { account, target, cid: input.client_action_id, action: 'purge' },
    (scene) => {
      const { view, now, actor, target: who } = scene
      mayPurge(scene)
      if (count === 0) return { already: null }
      const reason = input.reason ?? null
      const body = purgeBody(view, now, target, { from_seq, count, by: actor.account, reason })
      return {
        entry: entryOf(view, actor, messagesPurged, body, { target: who.account, targetName: who.name, reason }),
        record: null,
      }
    },
  )
  // A few messages are gone with the answer. The job removes the texts of others.
  if (done.row)
    await removePurged(node, key, target, { milliseconds: 0 }).catch((error: unknown) =>
      node.logger.warn({ error, room: key }, 'purged texts are left to their job'),
    )
  return answer(done, null, done.row ? count : 0)
}
