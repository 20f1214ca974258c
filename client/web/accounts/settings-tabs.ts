import type { SettingsSection } from '#shared/kit/pages'
import { settingTexts } from '../texts/settings.ts'
import type { ServerStatus } from './session.ts'

const t = settingTexts.tabs
const tabs: readonly { name: SettingsSection; title: string }[] = [
  { name: 'profile', title: t.profile },
  { name: 'sign-in', title: t.signIn },
  { name: 'devices', title: t.devices },
  { name: 'appearance', title: t.appearance },
  { name: 'wallet', title: t.wallet },
  { name: 'booking', title: t.booking },
  { name: 'points', title: t.points },
  { name: 'notifications', title: t.notifications },
  { name: 'privacy', title: t.privacy },
  { name: 'data', title: t.data },
  { name: 'problem', title: t.problem },
  { name: 'contact', title: t.contact },
]

/** The sections of the settings that this server has. */
export const settingsTabs = (status: ServerStatus | null) =>
  tabs.filter(({ name }) => name !== 'contact' || status?.contact)
