import { useCallback, useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import type { PointsAction, PointsEntry, PointsState } from '#shared/api/people/points'
import { isSameAccount } from '#shared/kit/accounts'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { fullTimeOf, lengthOf, nameOf, secondsUntil } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useNowUntil } from '../../kit/use-now.ts'
import { useSubmit } from '../../kit/use-submit.ts'
import { pointTexts as t } from '../../texts/settings.ts'
import accountsStyles from '../accounts.module.css'
import leaderboardStyles from './leaderboard.module.css'
import styles from './points.module.css'

const shownAtMost = 10

/** Who has most points, and the place of the account; looked at again when its points change. */
function Leaderboard({ points }: { points: number }) {
  const client = useClient()
  const ranks = useLoaded(`ranks ${points}`, async () => {
    const [{ entries, total }, { entry }] = await Promise.all([
      client.points.leaderboard({ limit: shownAtMost }),
      client.points.ownRank({}),
    ])
    const isAmong = entries.some(({ address }) => isSameAccount(address, entry?.address))
    return { shown: entry && !isAmong ? [...entries, entry] : entries, own: entry?.address, total }
  })
  const { value, error, reload } = ranks
  return (
    <section className="stack">
      <h3 className="label">{t.ranks.title}</h3>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={3} />}
      {value?.shown.length === 0 && <p className="hint">{t.ranks.empty}</p>}
      <ol className={`quiet-list ${leaderboardStyles.ranks}`} aria-label={t.ranks.title}>
        {value?.shown.map(({ rank, address, username, display_name, score }) => (
          <li key={address} className="row">
            <span className={`${leaderboardStyles.rank} numerals`}>{rank}</span>
            <strong className="grow">{nameOf({ display_name, username }, address)}</strong>
            {isSameAccount(address, value.own) && <span className="chip">{t.ranks.you}</span>}
            <span className="numerals">{t.count({ count: score })}</span>
          </li>
        ))}
      </ol>
      {value && value.total > shownAtMost && <p className="hint">{t.ranks.people({ count: value.total })}</p>}
    </section>
  )
}

const pageSize = 50

/** What the account was given, newest first: what is known already, and older pages on request. */
function PointsHistory({ newest }: { newest: readonly PointsEntry[] }) {
  const client = useClient()
  const [older, setOlder] = useState<readonly Row[]>([])
  const [hasOlder, setHasOlder] = useState(newest.length === pageSize)
  const rows = [...newest.map(({ points, ...rest }) => ({ ...rest, amount: points })), ...older]
  const more = async () => {
    const before = rows.at(-1)?.id
    const { transactions } = await client.points.history({ limit: pageSize, ...(before && { before }) })
    setOlder([...older, ...transactions])
    setHasOlder(transactions.length === pageSize)
  }
  return (
    <section className="stack">
      <h3 className="label">{t.history.title}</h3>
      {rows.length === 0 && <p className="hint">{t.history.empty}</p>}
      <ul className="quiet-list" aria-label={t.history.title}>
        {rows.map(({ id, reason, amount, created_at }) => (
          <li key={id} className="row">
            <span className="grow">
              {reason}
              <small className="hint">
                <time dateTime={created_at}>{fullTimeOf(created_at)}</time>
              </small>
            </span>
            <span className={`${accountsStyles.pointsWorth} numerals`}>+{amount}</span>
          </li>
        ))}
      </ul>
      {hasOlder && (
        <ActButton className="button small plain" onPress={more}>
          {t.history.older}
        </ActButton>
      )}
    </section>
  )
}

type Row = Pick<PointsEntry, 'id' | 'reason' | 'created_at'> & { amount: number }

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

/** The codes by which the account invites others, who came by them, and a field for the code of somebody else. */
function Invites({ onUsed }: { onUsed: () => void }) {
  const client = useClient()
  const tell = useTell()
  const invites = useLoaded('invites', () => client.invites.list({}))
  const { value, error, reload } = invites
  useEffect(() => client.on(table.events.pointsChanged, reload), [client, reload])
  const copy = async (code: string) => {
    await navigator.clipboard.writeText(code)
    tell(t.invites.copied)
  }
  return (
    <section className="stack">
      <h3 className="label">{t.invites.title}</h3>
      <p className="hint">{t.invites.hint}</p>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={3} />}
      {value && <p className="numerals">{t.invites.left({ left: value.available, count: value.totalAllocation })}</p>}
      <ul className="quiet-list" aria-label={t.invites.title}>
        {value?.invites.map(({ id, code, used_by, used_by_name }) => (
          <li key={id} className="row">
            <code className={`${accountsStyles.address} grow`}>{code}</code>
            {used_by ? (
              <span className="hint">{t.invites.usedBy({ name: nameOf(used_by_name, used_by) })}</span>
            ) : (
              <ActButton className="button small" aria-label={t.invites.copyOf({ code })} onPress={() => copy(code)}>
                {t.invites.copy}
              </ActButton>
            )}
          </li>
        ))}
      </ul>
      <RedeemForm onUsed={onUsed} />
    </section>
  )
}

function RedeemForm({ onUsed }: { onUsed: () => void }) {
  const client = useClient()
  const tell = useTell()
  const [code, setCode] = useState('')
  const { isBusy, problem, submit } = useSubmit(async () => {
    const { message } = await client.invites.redeem({ code })
    tell(message)
    setCode('')
    onUsed()
  })
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row">
        <input
          dir="auto"
          className="input grow"
          aria-label={t.invites.field}
          placeholder={t.invites.example}
          autoComplete="off"
          required
          maxLength={64}
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
        <button type="submit" className="button" aria-disabled={isBusy || undefined}>
          {t.invites.use}
        </button>
      </div>
      <Problem error={problem} />
    </form>
  )
}
