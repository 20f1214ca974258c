import { useClient } from '../../connection/client.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { signInTexts } from '../../texts/sign-in.ts'
import { ProfileSwitch } from '../profile-switch.tsx'
import { useSession } from '../session.ts'
import { emailWords } from '../sign-in/email-field.tsx'
import { ContactSettings } from './contact-settings.tsx'

/** The verified email address of the account: it can sign in, and it recovers the account when a passkey is lost. */
export function EmailSettings() {
  const client = useClient()
  const { account: walletAddress, user, status, reload } = useSession()
  return (
    <>
      <ContactSettings
        title={signInTexts.methods.email}
        icon="mail"
        noun="address"
        verified={user.email}
        input={{
          type: 'email',
          autoComplete: 'email',
          'aria-label': signInTexts.email,
          placeholder: 'you@example.org',
          maxLength: 254,
        }}
        words={emailWords}
        mailbox={{ kind: 'letters', shownAt: status?.mailbox }}
        send={(email) => client.email.sendCode({ email, walletAddress })}
        verify={(email, code) => client.email.verifyCode({ email, code, walletAddress, updates: false }).then(reload)}
        remove={() => client.email.remove({ walletAddress }).then(reload)}
      />
      {user.email !== null && <ProfileSwitch name="email_updates_opt_in" title={t.contacts.news} />}
    </>
  )
}
