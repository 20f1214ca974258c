import type { SchedulingSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'

/** A kind of call that a host takes. */
export interface Kind {
  /** In minutes. */
  duration: number
  /** In cents; 0 where nothing is asked for. */
  price: number
}

/** The kind that is asked for; who asks for a paid one at a host without these gets a free one. */
export function kindOf(settings: SchedulingSettings, asksPaid: boolean): Kind {
  if (asksPaid && settings.scheduling_paid_enabled)
    return {
      duration: settings.scheduling_paid_duration_minutes,
      price: settings.scheduling_price_cents,
    }
  if (!settings.scheduling_free_enabled)
    throw new AppError('SCHEDULING_DISABLED', { message: 'This user takes no free calls' })
  return { duration: settings.scheduling_free_duration_minutes, price: 0 }
}
