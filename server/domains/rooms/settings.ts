import { z } from 'zod'
import { defineSettings, numeric } from '#server/kernel/settings'

/** How often members are asked again for what the gate of their room asks. */
export const roomSettings = defineSettings(
  { GATE_RECHECK_MINUTES: numeric(z.number().int().min(0).max(10_080)).default(60) },
  ({ GATE_RECHECK_MINUTES }) => ({ recheckMilliseconds: GATE_RECHECK_MINUTES * 60_000 }),
)
