import { z } from 'zod'
import { defineSettings } from '#server/kernel/settings'

/** Whether who has given a token of attendance away stops being a member, at the re-check of gates. */
export const attendanceSettings = defineSettings(
  { ATTENDANCE_RECHECK: z.enum(['on', 'off']).default('off') },
  ({ ATTENDANCE_RECHECK }) => ({ isRechecked: ATTENDANCE_RECHECK === 'on' }),
)
