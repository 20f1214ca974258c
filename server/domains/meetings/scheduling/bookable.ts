import { accountOf } from '#server/domains/people/accounts/accounts'
import type { SchedulingSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'
import { settingsOf } from './own-settings.ts'

/** How somebody can be booked; refused where they cannot. */
export async function bookableSettings(host: string): Promise<SchedulingSettings> {
  const settings = await settingsOf(host)
  if (!settings.scheduling_enabled || (await accountOf(host))?.is_banned) throw new AppError('SCHEDULING_DISABLED')
  return settings
}
