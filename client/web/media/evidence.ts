import { mediaIn, uploadEvidence } from '#client/sdk/media'
import type { Client, LiveRoom, LocalMessage } from '#client/sdk/types'
import { openSealed } from './stored.ts'

interface SealedMedia {
  message: LocalMessage
  kind: 'image' | 'voice'
  type: string
  url: string
}

/** The sealed media that a message names, and that was opened here; null where it names none. The server cannot show these to moderators. */
export function sealedMediaOf(message: LocalMessage | undefined): SealedMedia | null {
  const media = message?.secrecy?.isSecret ? mediaIn(message.content, message.message_type) : null
  if (!message || !media || (media.kind !== 'image' && media.kind !== 'voice')) return null
  return { message, kind: media.kind, type: media.kind === 'image' ? media.type : 'audio/webm', url: media.url }
}

/** Opens the media once more and hands them in; answers with what a report names them by. */
export async function handIn(client: Client, live: LiveRoom, { message, type, url }: SealedMedia): Promise<string> {
  const { mediaSalt: salt, epochId } = message.secrecy ?? {}
  const key = live.conversationKey(epochId).then((opened) => opened.key)
  const data = await openSealed({ url, type, key })
  return (await uploadEvidence(client, { messageId: message.id, url, salt, data })).evidence
}
