import { readFileSync } from 'node:fs'
import { api } from '#shared/api/index'
import { operationsOf } from '#shared/kit/contract'

export type Fields = { [field: string]: unknown }
const examples = JSON.parse(readFileSync('docs/examples.json', 'utf8')) as Record<string, { input?: Fields | null }>

/** Every operation that names its room, with what the documents show of it. */
export const doors = operationsOf(api).flatMap(({ name, operation }) => {
  const input = examples[name]?.input
  const isOfRoom = typeof input?.room === 'object' && input.room !== null && !/^uploads\./.test(name)
  return isOfRoom ? [{ name, operation, input: { ...input, wait: undefined } as Fields }] : []
})

/** The documented paths of channels that only read. */
export const paths = [
  'GET /api/channels/:id',
  'GET /api/channels/:id/messages',
  'GET /api/channels/:id/messages/pin',
  'GET /api/channels/:id/members',
  'GET /api/channels/:id/reactions?messageIds=:message',
  'GET /api/channels/:id/agents',
  'GET /api/rooms/channel/:id/polls',
  'GET /api/channels/:id/ban',
  'GET /api/channels/:id/p2p-messages',
  'GET /api/public/channels/:id',
  'GET /api/rooms/channel/:id/events',
  'GET /api/rooms/channel/:id/events/stream',
  'GET /api/moderation?action=mod-log&chatType=channel&channelId=:id',
  'GET /api/moderation?action=muted&chatType=channel&channelId=:id',
  'GET /api/moderation?action=moderators&chatType=channel&channelId=:id',
  'GET /api/moderation/verify?channelId=:id',
  'GET /api/moderation/queue?channelId=:id',
  'GET /api/chat-rules?chatType=channel&chatId=:id',
  'GET /api/chat-rules/ban?chatType=channel&chatId=:id',
  'GET /api/blocked-words?scope=room&chatType=channel&chatId=:id',
]
