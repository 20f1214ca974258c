import { z } from 'zod'
import { decimalNumber, defineSettings } from '#server/kernel/settings'

/** The time for which a visit suffices for membership. */
export const placeSettings = defineSettings(
  { PLACE_STAY_DAYS: decimalNumber(z.number().int().min(0).max(366)).default(30) },
  ({ PLACE_STAY_DAYS }) => ({ stayDays: PLACE_STAY_DAYS, staySeconds: PLACE_STAY_DAYS * 86_400 }),
)
