import { type AdminSection, linkTo } from '#shared/kit/pages'
import settingsStyles from '../accounts/settings.module.css'
import { Dialog } from '../kit/dialog.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { WordsTab } from '../moderation/words-tab.tsx'
import { openDialog } from '../rooms/route.ts'
import { adminTexts as t } from '../texts/admin.ts'
import { adminTabs } from './admin-tabs.ts'
import { Analytics } from './analytics.tsx'
import { AuditLog } from './audit-log.tsx'
import { Broadcast } from './broadcast.tsx'
import { Cluster } from './cluster.tsx'
import { GlobalModerators } from './global-moderators.tsx'
import { Installation } from './installation.tsx'
import { InviteCodes } from './invite-codes.tsx'
import { People } from './people.tsx'
import { Reports } from './reports.tsx'

/** Everything that admins do for the whole installation. */
export function Administration({ section, onClose }: { section: AdminSection; onClose: () => void }) {
  return (
    <Dialog title={t.title} isBroad onClose={onClose}>
      <Tabs
        label={t.title}
        tabs={adminTabs}
        chosen={section}
        onChoose={(part) => openDialog(linkTo('admin', { part }))}
      />
      <div className={`stack wide ${settingsStyles.settingsPage}`} role="tabpanel" aria-labelledby={`tab-${section}`}>
        {section === 'people' && <People />}
        {section === 'moderators' && <GlobalModerators />}
        {section === 'reports' && <Reports />}
        {section === 'words' && (
          <>
            <p className="hint">{t.wordsHint}</p>
            <WordsTab room={null} />
          </>
        )}
        {section === 'audit' && <AuditLog />}
        {section === 'invitations' && <InviteCodes />}
        {section === 'analytics' && <Analytics />}
        {section === 'broadcasts' && <Broadcast />}
        {section === 'installation' && <Installation />}
        {section === 'cluster' && <Cluster />}
      </div>
    </Dialog>
  )
}
