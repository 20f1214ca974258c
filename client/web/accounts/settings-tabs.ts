import type { SettingsSection } from '#shared/kit/pages'
import { settingTexts } from '../texts/settings.ts'
import type { ServerStatus } from './session.ts'

const t = settingTexts.tabs
const other = settingTexts.soughtAs
interface SettingsTab {
  name: SettingsSection
  title: string
  /** Other words by which people look for it. */
  soughtAs?: string
}
const tabs: readonly SettingsTab[] = [
  { name: 'profile', title: t.profile, soughtAs: other.profile },
  { name: 'sign-in', title: t.signIn, soughtAs: other.signIn },
  { name: 'devices', title: t.devices, soughtAs: other.devices },
  { name: 'appearance', title: t.appearance, soughtAs: other.appearance },
  { name: 'wallet', title: t.wallet },
  { name: 'booking', title: t.booking },
  { name: 'points', title: t.points },
  { name: 'notifications', title: t.notifications, soughtAs: other.notifications },
  { name: 'privacy', title: t.privacy, soughtAs: other.privacy },
  { name: 'data', title: t.data, soughtAs: other.data },
  { name: 'problem', title: t.problem },
  { name: 'contact', title: t.contact },
]

/** The sections of the settings that this server has. */
export const settingsTabs = (status: ServerStatus | null) =>
  tabs.filter(({ name }) => name !== 'contact' || status?.contact)
