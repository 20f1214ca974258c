import { profilesOf } from '#server/domains/people/accounts/profiles'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import type { Message } from '#shared/api/rooms/message'
import { messages } from '#shared/api/rooms/messages'
import type { StreamChatMessage } from '#shared/api/streams/stream-records'
import type { streams as contract } from '#shared/api/streams/streams'
import { AppError } from '#shared/errors'
import { signForm } from '#shared/kit/reaction-sign'
import { visibleStream } from './life.ts'

export const streamRoomOf = (stream: string) => ({ type: 'stream' as const, id: stream })

export const chat: Action<typeof contract.chat> = async ({ id, since, ...page }, context) => {
  const { account } = signedIn(context)
  await visibleStream(context, id)
  const { messages: found, has_more } = await context.node.callAs(account, messages.history, {
    ...{ room: streamRoomOf(id), ...page },
    ...(since === undefined ? {} : { after: since }),
  })
  return { messages: await rowsOf(context.node, found), has_more }
}

/** The sender becomes a member of the room, as moderation applies to members. */
export const say: Action<typeof contract.say> = async ({ id, message, type, client_msg_id }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  await visibleStream(context, id)
  const text = type === 'reaction' ? signForm(message) : message
  if (type === 'reaction' && !isReaction(text))
    throw new AppError('VALIDATION_ERROR', { message: 'message: a reaction is one emoji' })
  const { message: sent } = await node.callAs(account, messages.send, {
    room: streamRoomOf(id),
    text,
    ...(client_msg_id === undefined ? {} : { client_msg_id }),
  })
  const [row] = await rowsOf(node, [sent])
  if (!row) throw new AppError('MESSAGE_NOT_FOUND')
  return { message: row }
}

const isReaction = (text: string) => /^\p{RGI_Emoji}$/v.test(text)

async function rowsOf(node: Node, all: readonly Message[]): Promise<StreamChatMessage[]> {
  const left = all.filter(({ is_deleted }) => !is_deleted)
  const profiles = await profilesOf(
    node,
    left.map(({ sender_address }) => sender_address),
  )
  return left.map(({ id, seq, room, sender_address, content, created_at }) => {
    const profile = profiles.get(sender_address)
    const sign = signForm(content)
    const type = isReaction(sign) ? ('reaction' as const) : ('message' as const)
    const text = type === 'reaction' ? sign : content
    return {
      ...{ id, seq, stream_id: room.id ?? '', user_address: sender_address, message: text, content: text, created_at },
      type,
      user: profile
        ? {
            username: profile.username,
            display_name: profile.display_name,
            ens_name: null,
            avatar_url: profile.avatar_url,
          }
        : null,
    }
  })
}
