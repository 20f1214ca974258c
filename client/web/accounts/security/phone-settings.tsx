import { useClient } from '../../connection/client.ts'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import type { ProblemWords } from '../../kit/problem.ts'
import { useLoaded } from '../../kit/use-loaded.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { ProfileSwitch } from '../profile-switch.tsx'
import { useSession } from '../session.ts'
import { ContactSettings } from './contact-settings.tsx'

const words: ProblemWords = {
  VALIDATION_ERROR: t.contacts.phoneInvalid,
}

/** The verified number of the account, by which friends find it, and others only where its owner allows it. */
export function PhoneSettings() {
  const client = useClient()
  const { account: walletAddress, status } = useSession()
  const phone = useLoaded('phone', () => client.phone.status())
  if (phone.error) return <Problem error={phone.error} onRetry={phone.reload} />
  if (!phone.value) return <Skeleton rows={2} label={t.contacts.phoneLoading} />
  return (
    <>
      <ContactSettings
        title={t.contacts.phone}
        icon="phone"
        noun="number"
        verified={phone.value.verified ? phone.value.phoneNumber : null}
        input={{
          type: 'tel',
          autoComplete: 'tel',
          'aria-label': t.contacts.phoneField,
          placeholder: '+44 20 7946 0000',
          maxLength: 40,
        }}
        words={words}
        mailbox={{ kind: 'texts', shownAt: status?.phone_mailbox }}
        send={(phoneNumber) => client.phone.sendCode({ phoneNumber, walletAddress })}
        verify={(_number, code) => client.phone.verifyCode({ code, walletAddress }).then(phone.reload)}
        remove={() => client.phone.remove({ walletAddress }).then(phone.reload)}
      />
      {phone.value.verified && <ProfileSwitch name="findable_by_phone" title={t.contacts.findable} />}
    </>
  )
}
