import { linkTo, type SettingsSection } from '#shared/kit/pages'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { useDeletions } from '../messages/deletions.tsx'
import { openDialog, openPage } from '../rooms/route.ts'
import { BugForm } from '../support/bug-form.tsx'
import { ContactForm } from '../support/contact-form.tsx'
import { settingTexts as t } from '../texts/settings.ts'
import { Appearance } from './appearance/appearance.tsx'
import { Availability } from './availability/availability.tsx'
import { Notifications } from './notifications/notifications.tsx'
import { OwnData } from './own-data/own-data.tsx'
import { Points } from './points/points.tsx'
import { ContactPermissions } from './privacy/contact-permissions.tsx'
import { BlockedPeople, SilencedRooms } from './privacy/quiet-lists.tsx'
import { OwnPicture } from './profile/own-picture.tsx'
import { ProfileForm } from './profile/profile-form.tsx'
import { StatusForm } from './profile/status-form.tsx'
import { DeviceKeys } from './security/device-keys.tsx'
import { Devices } from './security/devices.tsx'
import { SmartAccount } from './security/smart-account.tsx'
import { WaysIn } from './security/ways-in.tsx'
import { useSession } from './session.ts'
import styles from './settings.module.css'
import { settingsTabs } from './settings-tabs.ts'

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
