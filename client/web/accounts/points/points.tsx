import { useCallback, useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { PointsAction, PointsState } from '#shared/api/people/points'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { lengthOf, secondsUntil } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useNowUntil } from '../../kit/use-now.ts'
import { pointTexts as t } from '../../texts/points.ts'
import accountsStyles from '../accounts.module.css'
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
    tell(success ? t.earned({ count: given }) : t.refused({ reason: error ?? message ?? '' }))
    reload()
  }

  if (!points.value) return points.error ? <Problem error={points.error} onRetry={points.reload} /> : <Skeleton />
  const { points: total, actions, history } = points.value
  return (
    <>
      <p className={`${styles.pointsTotal} numerals`}>
        <Icon name="star" /> {t.count({ count: total })}
      </p>
      <Problem error={points.error ?? daily.error} onRetry={reload} />
      <section className="stack">
        <h3 className="label">{t.earn}</h3>
        <ul className="quiet-list" aria-label={t.earn}>
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
        {t.daily.title}
        <small className="hint">{t.daily.hint}</small>
      </span>
      <Worth points={props.points} />
      {isAvailable ? (
        <ActButton className="button small main" aria-label={t.daily.claim} onPress={props.onClaim}>
          {t.claim}
        </ActButton>
      ) : (
        <span className="hint numerals">{t.daily.again({ time: lengthOf(left) })}</span>
      )}
    </li>
  )
}

const places: Readonly<Partial<Record<PointsAction, Place>>> = {
  phone_verified: 'sign-in',
  email_verified: 'sign-in',
  five_friends: 'friends',
  username_claimed: 'profile',
  social_added: 'profile',
}

function ActionRow(props: {
  action: PointsAction
  worth: number
  state: PointsState
  onClaim: () => Promise<void>
  onOpen: (place: Place) => void
}) {
  const { action } = props
  const title = t.actions[action]
  const place = places[action]
  const isToDo = props.state === 'open' || props.state === 'unavailable'
  return (
    <li className="row">
      <span className="grow">
        {title}
        {isToDo && <small className="hint">{t.hints[action]}</small>}
      </span>
      <Worth points={props.worth} />
      {props.state === 'done' && <span className="chip">{t.done}</span>}
      {props.state === 'ready' && (
        <ActButton className="button small main" aria-label={t.claimOf({ title })} onPress={props.onClaim}>
          {t.claim}
        </ActButton>
      )}
      {props.state === 'open' && place && (
        <button
          type="button"
          className="button small"
          aria-label={t.goTo({ title })}
          onClick={() => props.onOpen(place)}
        >
          {t.go}
        </button>
      )}
    </li>
  )
}

const Worth = ({ points }: { points: number }) => (
  <span className={`${accountsStyles.pointsWorth} numerals`}>
    +{points}
    <span className="unseen"> {t.worth}</span>
  </span>
)
