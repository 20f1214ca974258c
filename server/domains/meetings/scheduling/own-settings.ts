import { accountByUsername, accountOf } from '#server/domains/people/accounts/accounts'
import { isFound } from '#server/domains/people/accounts/found'
import { deceptionByRoom, isReserved } from '#server/domains/people/accounts/names'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import type { GivenSettings, SchedulingSettings } from '#shared/api/meetings/scheduling'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { Settings, type StoredSettings } from './model.ts'

export const defaultSettings: SchedulingSettings = {
  scheduling_enabled: false,
  scheduling_slug: null,
  scheduling_title: null,
  scheduling_bio: null,
  scheduling_free_enabled: true,
  scheduling_paid_enabled: false,
  scheduling_free_duration_minutes: 15,
  scheduling_paid_duration_minutes: 30,
  scheduling_price_cents: 0,
  scheduling_network: 'base',
  scheduling_wallet_address: null,
  scheduling_duration_minutes: 30,
  scheduling_buffer_minutes: 15,
  scheduling_advance_notice_hours: 24,
  scheduling_calendar_sync: true,
}

/** The settings of an account over the defaults. */
export async function schedulingSettingsOf(account: string): Promise<SchedulingSettings> {
  const stored = await Settings.findOne({ _id: account }).lean<StoredSettings>()
  return { ...defaultSettings, ...stored }
}

/** Settings as a viewer sees them: the defaults if the account cannot be booked. */
export async function settingsSeenBy(viewer: string | null, account: string): Promise<SchedulingSettings> {
  const settings = await schedulingSettingsOf(account)
  return isSameAccount(viewer, account) || (await isBookable(account, settings)) ? settings : defaultSettings
}

/** May others book calls with this account, and see that? */
async function isBookable(host: string, { scheduling_enabled }: SchedulingSettings): Promise<boolean> {
  if (!scheduling_enabled) return false
  const account = await accountOf(host)
  return !account || isFound(account)
}

/** The booking part of a public page; null if the account cannot be booked. */
export async function bookingInfoOf(account: string) {
  const settings = await schedulingSettingsOf(account)
  const { scheduling_slug: slug, scheduling_title: title, scheduling_bio: bio } = settings
  return settings.scheduling_enabled ? { slug, title, bio } : null
}

const attempts = 20

type Change = Partial<SchedulingSettings>

/** Changes settings and returns all of them. The merged result is validated, also after simultaneous changes. */
export async function changeSettings(node: Node, account: string, given: GivenSettings): Promise<SchedulingSettings> {
  const set: Change = withoutUndefined(given)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stored = await Settings.findOne({ _id: account }).lean<StoredSettings>()
    const before: SchedulingSettings = { ...defaultSettings, ...stored }
    const settings: SchedulingSettings = { ...before, ...set }
    await refuse(account, given, before, settings)
    const { updated_at } = stored ?? {}
    const now = new Date(Math.max(node.now(), (updated_at?.getTime() ?? 0) + 1))
    if (await store(account, set, updated_at, now)) return settings
  }
  throw new AppError('CONFLICT')
}

async function refuse(
  account: string,
  given: GivenSettings,
  before: SchedulingSettings,
  settings: SchedulingSettings,
): Promise<void> {
  if (given.scheduling_enabled && !(await accountOf(account))?.email_verified) throw new AppError('EMAIL_NOT_VERIFIED')
  if (settings.scheduling_paid_enabled && settings.scheduling_price_cents > 0 && !settings.scheduling_wallet_address)
    throw new AppError('VALIDATION_ERROR', {
      message: 'scheduling_wallet_address is required where calls are paid for',
    })
  const { scheduling_slug: slug, scheduling_title: title } = given
  const claim = title && title !== before.scheduling_title ? deceptionByRoom(title) : null
  if (claim)
    throw new AppError('VALIDATION_ERROR', {
      message: `This title is not allowed. ${claim}`,
      details: { path: 'scheduling_title' },
    })
  if (slug && slug !== before.scheduling_slug && (await isNameOfAnother(account, slug.replaceAll('-', '_'))))
    throw new AppError('SLUG_TAKEN')
}

/** Slugs win over usernames: a slug must not be somebody's username. */
async function isNameOfAnother(account: string, name: string): Promise<boolean> {
  if (isReserved(name)) return true
  const named = await accountByUsername(name)
  return named !== null && !isSameAccount(named._id, account)
}

/** False if the settings changed since they were read. */
async function store(account: string, set: Change, before: Date | undefined, now: Date): Promise<boolean> {
  const fields = Object.entries(set)
  const fieldsToSet = { ...Object.fromEntries(fields.filter(([, value]) => value !== null)), updated_at: now }
  const without = fields.flatMap(([name, value]) => (value === null ? [[name, 1]] : []))
  try {
    if (!before) return (await Settings.create({ _id: account, ...fieldsToSet })) !== null
    const change = { $set: fieldsToSet, ...(without.length > 0 && { $unset: Object.fromEntries(without) }) }
    const { matchedCount } = await Settings.updateOne({ _id: account, updated_at: before }, change)
    return matchedCount === 1
  } catch (error) {
    if (!isDuplicate(error)) throw error
    if (before || !(await Settings.exists({ _id: account }))) throw new AppError('SLUG_TAKEN')
    return false
  }
}

/** The settings of a host who can be booked; throws for others. */
export async function bookableSettings(host: string): Promise<SchedulingSettings> {
  const settings = await schedulingSettingsOf(host)
  if (!(await isBookable(host, settings))) throw new AppError('SCHEDULING_DISABLED')
  return settings
}
