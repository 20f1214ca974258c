import { z } from 'zod'
import { longestTopic } from '#shared/kit/lengths'
import { EmojiOfName, nameLine, text } from '#shared/kit/primitives'

/** What somebody may write about a room. */
export const Name = nameLine(1, 100, 'name is required')
export const Emoji = EmojiOfName
export const Category = nameLine(1, 40)
export const Slug = z
  .string()
  .regex(/^(?![0-9a-f]{8}-[0-9a-f]{4}-)[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/, { error: 'Invalid slug' })
export const HttpsUrl = z.url({ protocol: /^https$/ }).max(2_000)
export const Description = text(500)
/** Empty: none. */
export const Topic = nameLine(0, longestTopic)
  .nullable()
  .transform((topic) => topic || null)
