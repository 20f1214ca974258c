import { statusOf } from '../accounts/profile/status-of.ts'
import { AgentHead } from '../agents/agent-head.tsx'
import { useClient } from '../connection/client.ts'
import { nameOf } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { goTo } from '../rooms/route.ts'
import { profileTexts as t } from '../texts/profiles.ts'
import { OwnProfile } from './own-profile.tsx'
import styles from './profiles.module.css'
import { ProfileView, useSeen } from './widget-board.tsx'
import { shownOf } from './widget-words.ts'

/** The own profile, to be changed, without an address; else a profile as others see it. */
export function ProfilePage({ address }: { address: string }) {
  return address === '' ? <OwnProfile /> : <OtherProfile key={address} address={address} />
}

const back = { title: t.back, go: () => (history.length > 1 ? history.back() : goTo(null)), isAlways: true }

function OtherProfile({ address }: { address: string }) {
  const client = useClient()
  const seen = useSeen(address)
  const loaded = useLoaded(address, async () => {
    const [page, { user }] = await Promise.all([
      client.profiles.widgets({ address }),
      client.accounts.publicUser({ address }),
    ])
    return { ...page, user }
  })
  const { value, error, reload } = loaded
  const user = value?.user
  const name = nameOf(user, address)
  const said = statusOf(user)
  const isEmpty = value?.widgets.every((widget) => shownOf(widget, seen) === null)
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead
        title={name}
        about={
          (user?.username || said) && (
            <>
              {user?.username && <span>@{user.username}</span>}
              {said && <span>{said}</span>}
            </>
          )
        }
        back={back}
      />
      <div className={styles.profilePage}>
        <Problem error={error} onRetry={reload} />
        {!value && !error && <Skeleton rows={6} label={t.loading} />}
        {value && !user && (
          <Blank icon="people" title={t.nobody}>
            <p>{t.nobodyHint}</p>
          </Blank>
        )}
        {user && isEmpty && (
          <Blank icon="grid" title={t.empty}>
            <p>{t.emptyHint({ name })}</p>
          </Blank>
        )}
        {value && user && !isEmpty && <ProfileView owner={address} widgets={value.widgets} theme={value.theme} />}
      </div>
    </main>
  )
}
