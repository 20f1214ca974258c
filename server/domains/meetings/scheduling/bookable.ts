import { accountOf } from '#server/domains/people/accounts/accounts'
import { isFound } from '#server/domains/people/accounts/leaving'
import type { SchedulingSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'
import { settingsOf } from './own-settings.ts'

/** How somebody can be booked; refused where they cannot. */
export async function bookableSettings(host: string): Promise<SchedulingSettings> {
  const settings = await settingsOf(host)
  const account = await accountOf(host)
  if (!settings.scheduling_enabled || (account && !isFound(account))) throw new AppError('SCHEDULING_DISABLED')
  return settings
}
