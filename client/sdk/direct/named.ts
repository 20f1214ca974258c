import { mediaIn } from '../media.ts'
import type { Draft } from '../types.ts'

const mostMedia = 10

/** The files that a message names, by their addresses. */
export function addressesIn({ text, type, attachments = [] }: Draft): string[] {
  const named = mediaIn(text, type)
  const urls = [...(named && named.kind !== 'place' ? [named.url] : []), ...attachments.map(({ url }) => url)]
  return urls.filter((url) => URL.canParse(url) && /^https?:/.test(url)).slice(0, mostMedia)
}
