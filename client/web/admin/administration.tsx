import { type FormEvent, useState } from 'react'
import { type AnalyticsBucket, type Period, periods } from '#shared/api/platform/analytics'
import { type BroadcastTarget, broadcastLength, broadcastTargets } from '#shared/api/platform/broadcasts'
import type { Setting } from '#shared/api/platform/installation'
import { type AdminSection, linkTo } from '#shared/kit/pages'
import settingsStyles from '../accounts/settings.module.css'
import { useClient } from '../connection/client.ts'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { WordsTab } from '../moderation/words-tab.tsx'
import { openDialog } from '../rooms/route.ts'
import { adminTexts as t } from '../texts/admin.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { locale } from '../texts/language.ts'
import { adminTabs } from './admin-tabs.ts'
import styles from './administration.module.css'
import { AuditLog } from './audit-log.tsx'
import { Cluster } from './cluster.tsx'
import { GlobalModerators } from './global-moderators.tsx'
import { InviteCodes } from './invite-codes.tsx'
import { People } from './people.tsx'
import { Reports } from './reports.tsx'

const analyticsTexts = t.analytics

const figures = [
  'totalUsers',
  'newUsersCount',
  'activeUsers',
  'totalMessages',
  'acceptedFriendships',
  'totalCalls',
  'streamsStarted',
  'totalAgents',
  'agentMessagesInPeriod',
  'invitesUsed',
  'betaPendingCount',
] as const
const plots = ['newUsers', 'groups', 'friendRequests', 'agentChats'] as const

/** What can be counted of the installation, over a period. */
function Analytics() {
  const client = useClient()
  const [period, setPeriod] = useState<Period>('7d')
  const { value, error, reload } = useLoaded(period, () => client.analytics.read({ period }))
  const number = new Intl.NumberFormat(locale)
  return (
    <>
      <fieldset className="row wrap">
        <legend className="unseen">{analyticsTexts.period}</legend>
        {periods.map((one) => (
          <button key={one} type="button" className="chip" aria-pressed={one === period} onClick={() => setPeriod(one)}>
            {analyticsTexts.periods[one]}
          </button>
        ))}
      </fieldset>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={6} />}
      {value && (
        <>
          <dl className={styles.figures}>
            {figures.map((name) => {
              const counted = value.summary[name]
              return counted === undefined ? null : (
                <div key={name}>
                  <dt>{analyticsTexts.figures[name]}</dt>
                  <dd className="numerals">{number.format(counted)}</dd>
                </div>
              )
            })}
          </dl>
          <div className={styles.plots}>
            {plots.map((name) => (
              <Plot key={name} title={analyticsTexts.plots[name]} buckets={value.timeSeries} of={name} />
            ))}
          </div>
        </>
      )}
    </>
  )
}

const [width, height] = [320, 80]

/** A bar for each part of the period; a pointer over one, and a screen reader, tell its value. */
function Plot(props: { title: string; buckets: readonly AnalyticsBucket[]; of: (typeof plots)[number] }) {
  const { title, buckets, of } = props
  const total = buckets.reduce((sum, bucket) => sum + bucket[of], 0)
  const most = Math.max(1, ...buckets.map((bucket) => bucket[of]))
  const step = width / Math.max(1, buckets.length)
  const label = analyticsTexts.plot({ title, total, most: total === 0 ? 0 : most })
  return (
    <figure className={styles.plot}>
      <figcaption>{label}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
        {buckets.map((bucket, at) => {
          const length = (bucket[of] / most) * (height - 2)
          return (
            <rect key={bucket.date} x={at * step + step * 0.1} y={height - length} width={step * 0.8} height={length}>
              <title>{analyticsTexts.bar({ label: bucket.label, value: bucket[of] })}</title>
            </rect>
          )
        })}
      </svg>
      <div className={styles.ends} aria-hidden="true">
        <span>{buckets[0]?.label}</span>
        <span>{buckets.at(-1)?.label}</span>
      </div>
    </figure>
  )
}

const broadcastTexts = t.broadcasts

/** Sends many people a direct message; the button says how many. */
function Broadcast() {
  const client = useClient()
  const tell = useTell()
  const [text, setText] = useState('')
  const [target, setTarget] = useState<BroadcastTarget>('all_users')
  const [key, setKey] = useState(() => crypto.randomUUID())
  const loaded = useLoaded(target, () => client.broadcasts.read({ target }))
  const send = async () => {
    const { sent, total } = await client.broadcasts.send({ message: text, target, idempotency_key: key })
    setText('')
    setKey(crypto.randomUUID())
    tell(sent < total ? broadcastTexts.begun({ sent, total }) : broadcastTexts.sent({ count: sent }))
    loaded.reload()
  }
  return (
    <>
      <select
        className="input"
        aria-label={broadcastTexts.recipients}
        value={target}
        onChange={(event) => setTarget(event.target.value === 'friends' ? 'friends' : 'all_users')}
      >
        {broadcastTargets.map((one) => (
          <option key={one} value={one}>
            {broadcastTexts.targets[one]}
          </option>
        ))}
      </select>
      <textarea
        dir="auto"
        className="input"
        aria-label={broadcastTexts.message}
        rows={3}
        maxLength={broadcastLength}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setKey(crypto.randomUUID())
        }}
      />
      <Problem error={loaded.error} onRetry={loaded.reload} />
      {loaded.value && text.trim() !== '' && (
        <div className="row end">
          <ConfirmButton
            title={broadcastTexts.send({ count: loaded.value.total })}
            question={confirmationTexts.broadcast}
            onConfirm={send}
          />
        </div>
      )}
      {loaded.value?.broadcasts.map(({ id, message, created_at, sent, failed, total, finished_at }) => (
        <p key={id} className="hint">
          {broadcastTexts.past({ message: isolated(message), time: fullTimeOf(created_at), sent, total })}
          {failed > 0 && ` · ${broadcastTexts.failed({ count: failed })}`}
          {finished_at === null && ` · ${broadcastTexts.sending}`}
        </p>
      ))}
    </>
  )
}

const installationTexts = t.installation
const switches = ['registration_open', 'uploads_allowed'] as const

/** The settings of the installation that admins change while it runs. */
function Installation() {
  const client = useClient()
  const attempt = useAttempt()
  const loaded = useLoaded('installation', async () => (await client.installation.settings({})).settings)
  const valueAt = (key: Setting['key']) => loaded.value?.find((one) => one.key === key)?.value
  const decide = async (key: Setting['key'], value: Setting['value']) => {
    const { setting } = await client.installation.changeSetting({ key, value })
    loaded.change((settings) => settings.map((one) => (one.key === key ? setting : one)))
  }
  return (
    <>
      <Problem error={loaded.error} onRetry={loaded.reload} />
      {loaded.value === null && !loaded.error && <Skeleton rows={3} />}
      {loaded.value && (
        <>
          {switches.map((key) => (
            <label className="check" key={key}>
              <input
                type="checkbox"
                checked={valueAt(key) === true}
                onChange={({ target }) => attempt(() => decide(key, target.checked))}
              />
              {installationTexts.switches[key]}
            </label>
          ))}
          <Notice said={String(valueAt('notice') ?? '')} onSay={(text) => decide('notice', text)} />
        </>
      )}
    </>
  )
}

function Notice({ said, onSay }: { said: string; onSay: (text: string | null) => Promise<unknown> }) {
  const tell = useTell()
  const attempt = useAttempt()
  const [text, setText] = useState(said)
  const save = (event: FormEvent) => {
    event.preventDefault()
    attempt(async () => {
      await onSay(text.trim() || null)
      tell(text.trim() ? installationTexts.notice.shown : installationTexts.notice.removed)
    })
  }
  return (
    <form className="stack" onSubmit={save}>
      <label className="field">
        <span>{installationTexts.notice.title}</span>
        <input
          dir="auto"
          className="input"
          maxLength={300}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <small>{installationTexts.notice.hint}</small>
      </label>
      {text.trim() !== said && (
        <div className="row end">
          <button type="submit" className="button main small">
            {text.trim() ? installationTexts.notice.show : installationTexts.notice.remove}
          </button>
        </div>
      )}
    </form>
  )
}

/** Everything that admins do for the whole installation. */
export function Administration({ section, onClose }: { section: AdminSection; onClose: () => void }) {
  return (
    <Dialog title={t.title} isBroad hasAddress onClose={onClose}>
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
