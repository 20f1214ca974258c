import { z } from 'zod'
import { Time } from '#shared/kit/primitives'

const Option = z.object({ id: z.number().int(), text: z.string(), vote_count: z.number().int() })

export const Poll = z.object({
  id: z.string(),
  message_id: z.string(),
  channel_id: z.string().nullable(),
  group_id: z.string().nullable(),
  creator_address: z.string(),
  question: z.string(),
  options: z.array(z.string()),
  /** The options as objects; `id` is what a vote names as `option_id`. */
  options_detail: z.array(Option),
  allows_multiple: z.boolean(),
  ends_at: Time.nullable(),
  is_anonymous: z.boolean(),
  is_closed: z.boolean(),
  /** Neither closed nor ended. */
  is_active: z.boolean(),
  created_at: Time,
  version: z.number().int(),
  votes: z.array(z.object({ option_index: z.number().int(), count: z.number().int(), voters: z.array(z.string()) })),
  user_votes: z.array(z.number().int()),
  total_votes: z.number().int(),
})
export type Poll = z.infer<typeof Poll>

/** A poll on the older paths: clients of the older SDK, which send `X-API-Key`, read its options as objects. */
export const OlderPoll = Poll.extend({ options: z.union([z.array(z.string()), z.array(Option)]) })
export const olderPoll = (poll: Poll, { api_key }: { api_key?: string | undefined }): z.infer<typeof OlderPoll> =>
  api_key === undefined ? poll : { ...poll, options: poll.options_detail }
