import { type ReactNode, useState } from 'react'
import type { ContactsFrom } from '#shared/api/people/account-records'
import { linkTo, type SettingsSection } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { Avatar } from '../kit/avatar.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed, Problem, Skeleton } from '../kit/notice.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useSubmit } from '../kit/use-submit.ts'
import { PictureField } from '../media/picture-field.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { useDeletions } from '../messages/deletions.tsx'
import { openDialog, openPage } from '../rooms/route.ts'
import { BugForm } from '../support/bug-form.tsx'
import { ContactForm } from '../support/contact-form.tsx'
import { chooseHours, chooseLanguage } from '../texts/choose-language.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { chosenHours, chosenLanguage, languages } from '../texts/language.ts'
import { settingTexts as t } from '../texts/settings.ts'
import { looks, useLook } from './appearance/looks.ts'
import { Availability } from './availability/availability.tsx'
import { Notifications } from './notifications/notifications.tsx'
import { OwnData } from './own-data/own-data.tsx'
import { Points } from './points/points.tsx'
import { BlockedPeople, SilencedRooms } from './privacy/quiet-lists.tsx'
import { Devices } from './security/devices.tsx'
import { SmartAccount } from './security/smart-account.tsx'
import { WaysIn } from './security/ways-in.tsx'
import { useSession } from './session.ts'
import styles from './settings.module.css'
import { settingsTabs } from './settings-tabs.ts'

/** A part of the look: one choice of a few. */
function Look({ name }: { name: keyof typeof looks }) {
  const [look, choose] = useLook(name)
  const texts: Readonly<Record<string, string>> = t.looks[name]
  return (
    <fieldset className="segments">
      <legend className="label">{texts.title}</legend>
      {looks[name].map((option) => (
        <label key={option}>
          <input type="radio" name={name} checked={look === option} onChange={() => choose(option)} />
          <span className="segment">{texts[option]}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** A choice that is kept in this browser; without one, the browser's own applies. */
function BrowserChoice<Value extends string>(props: {
  title: string
  usual: string
  chosen: Value | null
  onChoose: (value: Value | null) => void
  children: ReactNode
}) {
  const { title, usual, chosen, onChoose, children } = props
  return (
    <label className="field">
      <span>{title}</span>
      <select
        className="input"
        value={chosen ?? ''}
        onChange={({ target }) => onChoose((target.value || null) as Value | null)}
      >
        <option value="">{usual}</option>
        {children}
      </select>
    </label>
  )
}

function Appearance() {
  return (
    <>
      <Look name="theme" />
      <Look name="size" />
      <Look name="density" />
      <BrowserChoice
        title={t.language.title}
        usual={t.language.browser}
        chosen={chosenLanguage()}
        onChoose={chooseLanguage}
      >
        {Object.entries(languages).map(([language, name]) => (
          <option key={language} value={language} lang={language}>
            {name}
          </option>
        ))}
      </BrowserChoice>
      <BrowserChoice title={t.hours.title} usual={t.hours.region} chosen={chosenHours()} onChoose={chooseHours}>
        <option value="h12">{t.hours.h12}</option>
        <option value="h23">{t.hours.h23}</option>
      </BrowserChoice>
    </>
  )
}

const contacts = ['messages_from', 'invites_from', 'calls_from'] as const
const choices: readonly ContactsFrom[] = ['everyone', 'friends', 'nobody']

/** Who may write, invite and call. It holds in every browser of the account. */
function ContactPermissions() {
  const client = useClient()
  const attempt = useAttempt()
  const own = useLoaded('contacts', async () => (await client.accounts.ownProfile()).user)
  if (!own.value) return own.error ? <Problem error={own.error} onRetry={own.reload} /> : <Skeleton rows={3} />
  const choose = (contact: (typeof contacts)[number], from: ContactsFrom) =>
    attempt(async () => {
      const { user } = await client.accounts.updateProfile({ [contact]: from })
      own.change(() => user)
    })
  return contacts.map((contact) => (
    <fieldset key={contact} className="segments">
      <legend className="label">{t.permissions[contact]}</legend>
      {choices.map((from) => (
        <label key={from}>
          <input
            type="radio"
            name={contact}
            checked={own.value?.[contact] === from}
            onChange={() => void choose(contact, from)}
          />
          <span className="segment">{t.callers[from]}</span>
        </label>
      ))}
    </fieldset>
  ))
}

export function Settings({ section: page, onClose }: { section: SettingsSection; onClose: () => void }) {
  const setPage = (section: SettingsSection) => openDialog(linkTo('settings', { section }))
  const { status } = useSession()
  const open = (place: SettingsSection | 'friends') =>
    place === 'friends' ? openPage(linkTo('friends')) : setPage(place)
  return (
    <Dialog title={t.title} isBroad hasAddress onClose={onClose}>
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

/** The devices that open direct messages of the account. */
function DeviceKeys() {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const keys = useLoaded('device-keys', async () => (await client.deviceKeys.list({ addresses: account })).devices)
  const own = useLoaded('own-device', () => client.deviceId()).value
  const remove = async (device_id: string) => {
    await client.deviceKeys.remove({ device_id })
    tell(t.keys.removed)
    keys.reload()
  }
  return (
    <section className="stack" aria-label={t.keys.title}>
      <h3 className="label">{t.keys.title}</h3>
      <p className="hint">{t.keys.hint}</p>
      <Listed loaded={keys} empty={<Blank icon="key" title={t.keys.empty} />}>
        {(all) => (
          <ul className="quiet-list">
            {all.map(({ device_id, name, certificate, created_at }) => (
              <li key={device_id} className="row">
                <Icon name="key" />
                <span className="grow">
                  <strong>{name}</strong> {device_id === own && <i className="chip">{t.devices.current}</i>}
                  <small className="hint">
                    {(certificate ? t.keys.verified : t.keys.unverified)({
                      since: fullTimeOf(created_at),
                      time: (parts) => <time dateTime={created_at}>{parts}</time>,
                    })}
                  </small>
                </span>
                <ConfirmButton
                  title={t.remove}
                  question={confirmationTexts.deviceKey}
                  onConfirm={() => remove(device_id)}
                />
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </section>
  )
}

/** What the account says of the moment: an emoji and a few words. */
function StatusForm() {
  const client = useClient()
  const tell = useTell()
  const own = useLoaded('status', async () => (await client.accounts.ownProfile()).user)
  const [draft, setDraft] = useState<{ status_emoji?: string; status_text?: string }>({})
  const { isBusy, problem, submit } = useSubmit(async () => {
    const { user } = await client.accounts.updateProfile(draft)
    own.change(() => user)
    setDraft({})
    tell(t.saved)
  })
  if (!own.value) return null
  const { status_emoji, status_text } = own.value

  return (
    <form className="stack" aria-label={t.status.title} onSubmit={submit}>
      <div className="row">
        <label className="field emoji-field">
          <span>{t.status.emoji}</span>
          <input
            dir="auto"
            className="input"
            placeholder="🌴"
            maxLength={16}
            value={draft.status_emoji ?? status_emoji ?? ''}
            onChange={({ target }) => setDraft({ ...draft, status_emoji: target.value.trim() })}
          />
        </label>
        <label className="field grow">
          <span>{t.status.text}</span>
          <input
            dir="auto"
            className="input"
            placeholder={t.status.example}
            maxLength={80}
            value={draft.status_text ?? status_text ?? ''}
            onChange={({ target }) => setDraft({ ...draft, status_text: target.value })}
          />
        </label>
      </div>
      <div className="row end">
        <button type="submit" className="button" aria-disabled={isBusy || undefined}>
          {t.status.save}
        </button>
      </div>
      <Problem error={problem} />
    </form>
  )
}

function ProfileForm() {
  const client = useClient()
  const tell = useTell()
  const { user, reload } = useSession()
  const [displayName, setDisplayName] = useState(user.display_name ?? '')
  const [username, setUsername] = useState(user.username ?? '')
  const { problem, submit } = useSubmit(async () => {
    if (displayName.trim() !== (user.display_name ?? '')) {
      await client.accounts.updateProfile({ display_name: displayName.trim() || null })
    }
    const name = username.trim().replace('@', '').toLowerCase()
    if (name && name !== user.username) await client.accounts.claimUsername({ username: name })
    reload()
    tell(t.saved)
  })

  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>{t.profile.displayName}</span>
        <input
          dir="auto"
          className="input"
          maxLength={50}
          value={displayName}
          onChange={(event) => setDisplayName(event.target.value)}
        />
      </label>
      <label className="field">
        <span>{t.profile.username}</span>
        <input
          dir="auto"
          className="input"
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          pattern="@?[A-Za-z0-9_]{3,20}"
          value={username}
          onChange={(event) => setUsername(event.target.value)}
        />
        <small>{t.profile.usernameHint}</small>
      </label>
      <Problem error={problem} />
      <div className="row end">
        <button type="submit" className="button main">
          {t.save}
        </button>
      </div>
    </form>
  )
}

/** The picture of this account. */
function OwnPicture() {
  const client = useClient()
  const { account, user, status, reload } = useSession()
  const picture = useStoredPicture(user.avatar_url)
  const name = nameOf(user, account)
  if (!status?.media) return null
  const remove = () => client.accounts.updateProfile({ custom_avatar_url: null, use_custom_avatar: false }).then(reload)
  return (
    <PictureField
      title={t.profile.picture}
      shown={<Avatar id={account} name={name} size="large" picture={picture} />}
      onStore={(file) => client.uploads.avatar({ file }).then(reload)}
      onRemove={picture === null ? undefined : remove}
    />
  )
}
