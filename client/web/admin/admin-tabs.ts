import type { AdminSection } from '#shared/kit/pages'
import { adminTexts } from '../texts/admin.ts'

const t = adminTexts.tabs

/** The sections of the administration. */
export const adminTabs: readonly { name: AdminSection; title: string }[] = [
  { name: 'people', title: t.people },
  { name: 'moderators', title: t.moderators },
  { name: 'reports', title: t.reports },
  { name: 'words', title: t.words },
  { name: 'audit', title: t.audit },
  { name: 'invitations', title: t.invitations },
  { name: 'analytics', title: t.analytics },
  { name: 'broadcasts', title: t.broadcasts },
  { name: 'installation', title: t.installation },
  { name: 'cluster', title: t.cluster },
]
