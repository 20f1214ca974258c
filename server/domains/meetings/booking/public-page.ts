import { Settings, type StoredSettings } from '#server/domains/meetings/scheduling/model'
import { bookableSettings } from '#server/domains/meetings/scheduling/own-settings'
import { windowsOf } from '#server/domains/meetings/scheduling/windows'
import { facilitatorOf, networkNamed } from '#server/domains/payments/payments/scheme'
import { accountByUsername, accountOf } from '#server/domains/people/accounts/accounts'
import type { Account } from '#server/domains/people/accounts/model'
import { profileOf } from '#server/domains/people/accounts/profiles'
import type { Node } from '#server/kernel/context'
import type { PublicSchedule } from '#shared/api/meetings/booking'
import { AppError } from '#shared/errors'
import { canonicalAddress } from '#shared/kit/primitives'

/** The booking page of an account by address or username. */
export async function bookingPageOfName(node: Node, name: string): Promise<PublicSchedule> {
  const account =
    (await accountOf(canonicalAddress(name))) ?? (await accountByUsername(name.toLowerCase().replace(/^@/, '')))
  if (!account) throw new AppError('USER_NOT_FOUND')
  return pageOf(node, account)
}

/** The booking page of an account by its slug. */
export async function bookingPageOfSlug(node: Node, scheduling_slug: string): Promise<PublicSchedule> {
  const settings = await Settings.findOne({ scheduling_slug }).lean<StoredSettings>()
  const account = settings && (await accountOf(settings._id))
  if (!account) throw new AppError('USER_NOT_FOUND')
  return pageOf(node, account)
}

async function pageOf(node: Node, account: Account): Promise<PublicSchedule> {
  const settings = await bookableSettings(account._id)
  const windows = await windowsOf(account._id)
  const { id: walletAddress, name, username, avatar_url: avatarUrl } = profileOf(account)
  const facts = networkNamed(settings.scheduling_network)
  const facilitator = facts ? facilitatorOf(node, facts) : null
  return {
    profile: {
      walletAddress,
      displayName: name,
      username,
      ensName: null,
      avatarUrl,
      bio: settings.scheduling_bio ?? account.bio ?? null,
      title: settings.scheduling_title,
      slug: settings.scheduling_slug,
    },
    scheduling: {
      freeEnabled: settings.scheduling_free_enabled,
      paidEnabled: settings.scheduling_paid_enabled,
      freeDuration: settings.scheduling_free_duration_minutes,
      paidDuration: settings.scheduling_paid_duration_minutes,
      priceCents: settings.scheduling_price_cents,
      network: settings.scheduling_network,
      payToAddress: settings.scheduling_wallet_address,
      bufferMinutes: settings.scheduling_buffer_minutes,
      advanceNoticeHours: settings.scheduling_advance_notice_hours,
      payable: facilitator !== null,
      simulated: facilitator?.isSimulated ?? false,
    },
    availability: {
      windows: windows.map(({ day_of_week, start_time, end_time, timezone }) => ({
        ...{ dayOfWeek: day_of_week, startTime: start_time, endTime: end_time, timezone },
      })),
      timezone: windows[0]?.timezone ?? 'UTC',
    },
  }
}
