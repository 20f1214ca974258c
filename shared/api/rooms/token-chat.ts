import { z } from 'zod'
import { amountText } from '#shared/kit/amounts'
import { Link, Time } from '#shared/kit/primitives'
import type { Room } from './room.ts'

/** The row of a room for holders, as the documented paths name its fields. */
export const TokenChat = z.object({
  id: z.string(),
  name: z.string(),
  created_by: z.string().nullable(),
  token_address: z.string(),
  token_chain_id: z.number().int(),
  token_name: z.string(),
  token_symbol: z.string(),
  token_decimals: z.number().int(),
  token_image: Link.nullable(),
  icon_url: Link.nullable(),
  min_balance: z.string(),
  min_balance_display: z.string(),
  is_official: z.boolean(),
  description: z.string().nullable(),
  emoji: z.string(),
  member_count: z.number().int(),
  messaging_type: z.string(),
  created_at: Time,
  updated_at: Time,
  is_member: z.boolean(),
})
export type TokenChat = z.infer<typeof TokenChat>

export function tokenChatOf({ gate, ...room }: Room): TokenChat {
  const token = gate?.by === 'balance' ? gate : noToken
  return TokenChat.parse({
    ...room,
    ...token,
    created_by: room.creator_address,
    token_chain_id: token.chain_id,
    token_image: room.icon_url,
    min_balance_display: amountText(token.min_balance, token.token_decimals),
  })
}

/** Of a room without a gate, which no operation makes. */
const noToken = {
  ...{ chain_id: 0, token_address: '', token_name: '', token_symbol: '', token_decimals: 0, min_balance: '0' },
}

/** Clients of the documented paths read the row at top level as well as under its name. */
export const asTokenChat = {
  schema: z.object({ chat: TokenChat }).and(TokenChat),
  of: ({ room }: { room: Room }) => ({ chat: tokenChatOf(room), ...tokenChatOf(room) }),
}
