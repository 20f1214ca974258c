import { useCallback, useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { PointsAction, PointsState } from '#shared/api/points'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { lengthOf, plural, secondsUntil } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useNowUntil } from '../kit/use-now.ts'
import accountsStyles from './accounts.module.css'
import { Invites } from './invites.tsx'
import { Leaderboard } from './leaderboard.tsx'
import styles from './points.module.css'
import { PointsHistory } from './points-history.tsx'

type Place = 'profile' | 'sign-in' | 'friends'

/** The points of the account: how many, what else can be earned, and who has more. */
export function Points({ onOpen }: { onOpen: (place: Place) => void }) {
  const client = useClient()
  const tell = useTell()
  const points = useLoaded('points', () => client.points.get({}))
  const daily = useLoaded('daily', () => client.points.daily({}))
  const [reloadPoints, reloadDaily] = [points.reload, daily.reload]
  const reload = useCallback(() => {
    reloadPoints()
    reloadDaily()
  }, [reloadPoints, reloadDaily])
  useEffect(() => client.on(table.events.pointsChanged, reload), [client, reload])

  const told = async (
    claim: Promise<{ success: boolean; points: number; message?: string; error?: string | undefined }>,
  ) => {
    const { success, points: given, message, error } = await claim
    tell(success ? `${plural(given, 'point')} for you.` : `${error ?? message}.`)
    reload()
  }

  if (!points.value) return points.error ? <Problem error={points.error} onRetry={points.reload} /> : <Skeleton />
  const { points: total, actions, history } = points.value
  return (
    <>
      <p className={`${styles.pointsTotal} numerals`}>
        <Icon name="star" /> {plural(total, 'point')}
      </p>
      <Problem error={points.error ?? daily.error} onRetry={reload} />
      <section className="stack">
        <h3 className="label">To earn</h3>
        <ul className="quiet-list" aria-label="To earn">
          {daily.value && <DailyRow {...daily.value} onClaim={() => told(client.points.claimDaily({}))} />}
          {actions.map(({ action, points: worth, state }) => (
            <ActionRow
              key={action}
              action={action}
              worth={worth}
              state={state}
              onClaim={() => told(client.points.claim({ action }))}
              onOpen={onOpen}
            />
          ))}
        </ul>
      </section>
      <Invites onUsed={reload} />
      <Leaderboard points={total} />
      <PointsHistory key={history[0]?.id ?? ''} newest={history} />
    </>
  )
}

function DailyRow(props: { available: boolean; nextResetAt: string; points: number; onClaim: () => Promise<void> }) {
  const now = useNowUntil(props.nextResetAt)
  const left = secondsUntil(props.nextResetAt, now)
  const isAvailable = props.available || left === 0
  return (
    <li className="row">
      <span className="grow">
        Daily bonus
        <small className="hint">Once a day. Days begin at midnight UTC.</small>
      </span>
      <Worth points={props.points} />
      {isAvailable ? (
        <ActButton className="button small main" aria-label="Claim the daily bonus" onPress={props.onClaim}>
          Claim
        </ActButton>
      ) : (
        <span className="hint numerals">Again in {lengthOf(left)}</span>
      )}
    </li>
  )
}

const words: Record<PointsAction, { title: string; how: string; place?: Place }> = {
  phone_verified: { title: 'Verify a phone number', how: 'Under “Sign-in & security”.', place: 'ways' },
  email_verified: { title: 'Verify an email address', how: 'Under “Sign-in & security”.', place: 'ways' },
  five_friends: {
    title: 'Have five friends',
    how: 'Under “Friends”, above the rooms.',
    place: 'friends',
  },
  ens_primary: { title: 'Have a primary ENS name', how: 'This server does not look for one.' },
  username_claimed: { title: 'Take a username', how: 'Under “Profile”.', place: 'profile' },
  social_added: {
    title: 'Add a social profile',
    how: 'By a widget of your profile page, under “Profile”.',
    place: 'profile',
  },
}

function ActionRow(props: {
  action: PointsAction
  worth: number
  state: PointsState
  onClaim: () => Promise<void>
  onOpen: (place: Place) => void
}) {
  const { title, how, place } = words[props.action]
  const isToDo = props.state === 'open' || props.state === 'unavailable'
  return (
    <li className="row">
      <span className="grow">
        {title}
        {isToDo && <small className="hint">{how}</small>}
      </span>
      <Worth points={props.worth} />
      {props.state === 'done' && <span className="chip">Done</span>}
      {props.state === 'ready' && (
        <ActButton className="button small main" aria-label={`Claim: ${title}`} onPress={props.onClaim}>
          Claim
        </ActButton>
      )}
      {props.state === 'open' && place && (
        <button
          type="button"
          className="button small"
          aria-label={`Go there: ${title}`}
          onClick={() => props.onOpen(place)}
        >
          Go there
        </button>
      )}
    </li>
  )
}

const Worth = ({ points }: { points: number }) => (
  <span className={`${accountsStyles.pointsWorth} numerals`}>
    +{points}
    <span className="unseen"> points</span>
  </span>
)
