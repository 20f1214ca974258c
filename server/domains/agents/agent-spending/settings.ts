import { z } from 'zod'
import { decimalNumber, defineSettings } from '#server/kernel/settings'

export const spendingSettings = defineSettings(
  { AGENT_DAILY_TOKENS: decimalNumber(z.number().int().min(1)).default(5_000_000) },
  ({ AGENT_DAILY_TOKENS }) => ({
    /** The tokens of all answers of an owner's agents on one day (UTC). */
    dailyTokens: AGENT_DAILY_TOKENS,
  }),
)
