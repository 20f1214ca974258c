import { linkTo, type SettingsSection } from '#shared/kit/pages'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { useDeletions } from '../messages/deletions.tsx'
import { openDialog, openPage } from '../rooms/route.ts'
import { BugForm } from '../support/bug-form.tsx'
import { ContactForm } from '../support/contact-form.tsx'
import { settingTexts as t } from '../texts/settings.ts'
import { Appearance } from './appearance.tsx'
import { Availability } from './availability.tsx'
import { ContactPermissions } from './contact-permissions.tsx'
import { DeviceKeys } from './device-keys.tsx'
import { Devices } from './devices.tsx'
import { Notifications } from './notifications.tsx'
import { OwnData } from './own-data.tsx'
import { OwnPicture } from './own-picture.tsx'
import { Points } from './points.tsx'
import { ProfileForm } from './profile-form.tsx'
import { BlockedPeople, SilencedRooms } from './quiet-lists.tsx'
import { useSession } from './session.ts'
import styles from './settings.module.css'
import { settingsTabs } from './settings-tabs.ts'
import { SmartAccount } from './smart-account.tsx'
import { StatusForm } from './status-form.tsx'
import { WaysIn } from './ways-in.tsx'

export function Settings({ section: page, onClose }: { section: SettingsSection; onClose: () => void }) {
  const setPage = (section: SettingsSection) => openDialog(linkTo('settings', { section }))
  const { status } = useSession()
  const open = (place: SettingsSection | 'friends') =>
    place === 'friends' ? openPage(linkTo('friends')) : setPage(place)
  return (
    <Dialog title={t.title} isBroad onClose={onClose}>
      <Tabs label={t.title} tabs={settingsTabs(status)} chosen={page} onChoose={setPage} />
      <div className={`stack wide ${styles.settingsPage}`} role="tabpanel" aria-labelledby={`tab-${page}`}>
        {page === 'profile' && <Profile onLeave={onClose} />}
        {page === 'sign-in' && <WaysIn />}
        {page === 'devices' && (
          <>
            <Devices />
            <DeviceKeys />
          </>
        )}
        {page === 'appearance' && <Appearance />}
        {page === 'wallet' && <SmartAccount onMakePasskey={() => setPage('sign-in')} />}
        {page === 'booking' && <Availability />}
        {page === 'points' && <Points onOpen={open} />}
        {page === 'notifications' && <Notifications />}
        {page === 'privacy' && (
          <>
            <ContactPermissions />
            <SilencedRooms />
            <BlockedPeople />
          </>
        )}
        {page === 'data' && <OwnData />}
        {page === 'problem' && <BugForm />}
        {page === 'contact' && <ContactForm />}
      </div>
    </Dialog>
  )
}

function Profile({ onLeave }: { onLeave: () => void }) {
  const { signOut } = useSession()
  const { flush } = useDeletions()
  // The next sign-in comes to the page behind the settings.
  const leave = async () => {
    await flush()
    onLeave()
    await signOut()
  }
  return (
    <>
      <OwnPicture />
      <ProfileForm />
      <StatusForm />
      <div className="row">
        <a className="button" href={linkTo('profileOwn')}>
          <Icon name="grid" />
          {t.profile.page}
        </a>
        <span className="hint">{t.profile.pageHint}</span>
      </div>
      <div className="row">
        <button type="button" className="button" onClick={leave}>
          {t.profile.signOut}
        </button>
        <span className="hint">{t.profile.signOutHint}</span>
      </div>
    </>
  )
}
