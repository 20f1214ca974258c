import { mediaIn } from '../media.ts'
import type { Draft } from '../types.ts'

const mostMedia = 10
const inBucket = /^https?:\/\/.*\/(?:chat-images|chat-voice|media)\/([^?#]+)$/

/** The files of its sender's own that a message names, by their paths. */
export function pathsIn({ text, type, attachments = [] }: Draft, sender: string): string[] {
  const named = mediaIn(text, type)
  const urls = [...(named && named.kind !== 'place' ? [named.url] : []), ...attachments.map(({ url }) => url)]
  const paths = urls.flatMap((url) => inBucket.exec(url)?.[1] ?? [])
  return [...new Set(paths)].filter((path) => path.split('/')[1] === sender.toLowerCase()).slice(0, mostMedia)
}
