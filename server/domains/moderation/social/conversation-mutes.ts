import { type Action, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { RoomKey } from '#server/log/types'
import type { social as contract } from '#shared/api/moderation/social'
import { canonicalAddress, done } from '#shared/kit/primitives'
import { conversationOf, roomOfKey } from '#shared/kit/room-key'
import type { Conversation } from '#shared/kit/room-kinds'
import { ConversationMutes } from './model.ts'

const milliseconds = { '1h': 3_600_000, '8h': 28_800_000, '1d': 86_400_000, '1w': 604_800_000 } as const

type Mute = Awaited<ReturnType<typeof conversationMutesOf>>[number]

/** The conversation mutes of an account that are in force. */
export async function conversationMutesOf(account: string, now: number) {
  const rows = await ConversationMutes.find({ user_address: account }).sort({ updated_at: -1 }).lean()
  return rows.filter(({ muted_until }) => muted_until == null || Date.parse(muted_until) > now).map(muteOutput)
}

const muteOutput = (row: {
  mute_id: string
  user_address: string
  conversation_type: string
  conversation_id: string
  muted_until?: string | null
  created_at: string
  updated_at: string
}) => ({
  id: row.mute_id,
  user_address: row.user_address,
  conversation_type: row.conversation_type as Conversation,
  conversation_id: row.conversation_id,
  muted_until: row.muted_until ?? null,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

/** The mute of a room, if any. A direct conversation is named by the other person, alpha by `global`. */
export function conversationMuteOf(mutes: readonly Mute[], key: RoomKey, account: string): Mute | null {
  const { conversationType, conversationId } = conversationOf(roomOfKey(key), account)
  return (
    mutes.find(
      ({ conversation_type, conversation_id }) =>
        conversation_type === conversationType && conversation_id === conversationId.toLowerCase(),
    ) ?? null
  )
}

export const mutes: Action<typeof contract.mutes> = async (_input, context) => ({
  mutes: await conversationMutesOf(signedIn(context).account, context.node.now()),
})

const idOf = (account: string, type: string, conversation: string) => `${account} ${type} ${conversation}`
const storedId = (id: string) => canonicalAddress(id).toLowerCase()

export const mute: Action<typeof contract.mute> = async ({ conversationType, conversationId, duration }, context) => {
  const { account } = signedIn(context)
  const now = context.node.now()
  const conversation_id = storedId(conversationId)
  const muted_until = duration === 'forever' ? null : new Date(now + milliseconds[duration]).toISOString()
  const time = new Date(now).toISOString()
  const row = await ConversationMutes.findOneAndUpdate(
    { _id: idOf(account, conversationType, conversation_id) },
    {
      $set: { muted_until, updated_at: time },
      $setOnInsert: {
        mute_id: newId(),
        user_address: account,
        conversation_type: conversationType,
        conversation_id,
        created_at: time,
      },
    },
    { upsert: true, returnDocument: 'after' },
  ).lean()
  if (!row) throw new Error('The silence is gone')
  return { success: true, mute: muteOutput(row) }
}

export const unmute: Action<typeof contract.unmute> = async ({ conversationType, conversationId }, context) => {
  await ConversationMutes.deleteOne({
    _id: idOf(signedIn(context).account, conversationType, storedId(conversationId)),
  })
  return done
}
