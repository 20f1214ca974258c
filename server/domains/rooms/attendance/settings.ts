import { z } from 'zod'
import { defineSettings } from '#server/kernel/settings'

/** Does the re-check of gates remove members who no longer hold the attendance token? */
export const attendanceSettings = defineSettings(
  { ATTENDANCE_RECHECK: z.enum(['on', 'off']).default('off') },
  ({ ATTENDANCE_RECHECK }) => ({ isRechecked: ATTENDANCE_RECHECK === 'on' }),
)
