import { z } from 'zod'
import { defineSettings } from '#server/kernel/settings'

export const betaSettings = defineSettings({ BETA: z.enum(['open', 'granted']).optional() }, ({ BETA }) => ({
  /** Who may create agents: everybody, or approved accounts. */
  beta: BETA,
}))
