import { z } from 'zod'
import { defineSettings } from '#server/kernel/settings'

export const betaSettings = defineSettings({ BETA: z.enum(['open', 'granted']).optional() }, ({ BETA }) => ({
  /** Who may make agents: everybody, or those to whom an admin has given it. */
  beta: BETA,
}))
