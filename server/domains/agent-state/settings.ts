import { z } from 'zod'
import { defineSettings, numeric } from '#server/kernel/settings'

export const agentSettings = defineSettings(
  {
    BETA: z.enum(['open', 'granted']).optional(),
    AGENT_DAILY_TOKENS: numeric(z.number().int().min(1)).default(5_000_000),
  },
  ({ BETA, AGENT_DAILY_TOKENS }) => ({
    /** Who may make agents: everybody, or those to whom an admin has given it. */
    beta: BETA,
    /** What the answers of one owner's agents may take on one day, in UTC. */
    dailyTokens: AGENT_DAILY_TOKENS,
  }),
)
