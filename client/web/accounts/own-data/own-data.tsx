import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import {
  archiveDays,
  type DataExport,
  exportIntervalMilliseconds,
  type MessagesOfErased,
  type ownData,
} from '#shared/api/platform/own-data'
import type { AnswerOf } from '#shared/kit/contract'
import { chosenName } from '#shared/kit/person-name'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { lengthInBytes } from '../../kit/byte-length.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { fullTimeOf, secondsUntil, timeOf } from '../../kit/format.ts'
import { MakeForm } from '../../kit/make-form.tsx'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useNowUntil } from '../../kit/use-now.ts'
import { deleteAccountTexts, settingTexts as t } from '../../texts/settings.ts'
import { useSession } from '../session.ts'

export function OwnData() {
  return (
    <>
      <DownloadData />
      <DeleteAccount />
    </>
  )
}

/** A copy of everything that the server has about this account. */
function DownloadData() {
  const client = useClient()
  const tell = useTell()
  const loaded = useLoaded('own-data', () => client.ownData.readExport({}))
  const [withFiles, setWithFiles] = useState(false)
  const { value, error, reload, change } = loaded
  useEffect(
    () => client.on(table.events.dataExportChanged, (told) => change((known) => ({ ...known, export: told.export }))),
    [client, change],
  )
  const begin = async () => {
    const begun = await client.ownData.beginExport({ include_media: withFiles })
    change((known) => ({ ...known, export: begun.export }))
    tell(t.data.begun)
  }
  const download = async () => {
    const { url } = await client.ownData.exportUrl({})
    location.assign(url)
  }
  const last = value?.export ?? null
  const nextAt = last?.state === 'ready' ? nextExportAt(last) : null
  const now = useNowUntil(nextAt)
  const isTooEarly = secondsUntil(nextAt, now) > 0
  return (
    <section className="stack" aria-label={t.data.title}>
      <h3 className="label">{t.data.download}</h3>
      <p className="hint">{t.data.hint({ file: (parts) => <code>{parts}</code> })}</p>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={2} />}
      {last && <Copy made={last} onDownload={download} />}
      {value && last?.state !== 'working' && (
        <>
          <label className="check">
            <input type="checkbox" checked={withFiles} onChange={({ target }) => setWithFiles(target.checked)} />
            <span>{t.data.files}</span>
          </label>
          <div className="row">
            <ActButton className="button" disabled={isTooEarly} onPress={begin}>
              {last ? t.data.makeAgain : t.data.make}
            </ActButton>
            <span className="hint">
              {nextAt && isTooEarly ? t.data.makeLater({ time: fullTimeOf(nextAt) }) : t.data.makeHint}
            </span>
          </div>
        </>
      )}
    </section>
  )
}

const nextExportAt = ({ created_at }: DataExport): string =>
  new Date(Date.parse(created_at) + exportIntervalMilliseconds).toISOString()

function Copy({ made, onDownload }: { made: DataExport; onDownload: () => Promise<void> }) {
  if (made.state === 'failed') return <p role="status">{t.data.failed}</p>
  if (made.state === 'working')
    return (
      <div className="stack" role="status">
        <p>{t.data.working}</p>
        {made.ready_at && <p className="hint">{t.data.readyAt({ time: timeOf(made.ready_at) })}</p>}
        <progress aria-label={t.data.progress} max={Math.max(1, made.total)} value={made.done} />
      </div>
    )
  return (
    <div className="row">
      <ActButton className="button main" onPress={onDownload}>
        {t.data.get}
      </ActButton>
      <span className="hint" role="status">
        {t.data.made({
          size: lengthInBytes(made.bytes ?? 0),
          time: fullTimeOf(made.finished_at ?? made.created_at),
          days: archiveDays,
        })}
      </span>
    </div>
  )
}

type State = AnswerOf<typeof ownData.readErasure>

/** The way to delete this account, and a notice where a sign-in has kept it. */
function DeleteAccount() {
  const client = useClient()
  const { value, error, reload } = useLoaded('erasure', () => client.ownData.readErasure({}))
  const [isOpen, setOpen] = useState(false)
  return (
    <section className="stack" aria-label={deleteAccountTexts.title}>
      <h3 className="label">{deleteAccountTexts.title}</h3>
      {value?.kept_at && <p role="status">{deleteAccountTexts.kept({ time: fullTimeOf(value.kept_at) })}</p>}
      <p className="hint">{deleteAccountTexts.hint}</p>
      <Problem error={error} onRetry={reload} />
      <div className="row">
        <button type="button" className="button risky" disabled={!value} onClick={() => setOpen(true)}>
          {deleteAccountTexts.title}
        </button>
      </div>
      {isOpen && value && <DeleteDialog state={value} onClose={() => setOpen(false)} />}
    </section>
  )
}

function DeleteDialog({ state, onClose }: { state: State; onClose: () => void }) {
  const client = useClient()
  const tell = useTell()
  const { account, user, signOut } = useSession()
  const [messages, setMessages] = useState<MessagesOfErased>('unlink')
  const [confirm, setConfirm] = useState('')
  const name = chosenName(user) ?? account
  const given = confirm.trim().toLowerCase()
  const names = [user.display_name, user.username, user.username && `@${user.username}`, account]
  const isConfirmed = names.some((one) => one?.trim().toLowerCase() === given)
  const { rooms, agents, streams, calls, webhooks, payments } = state.counts
  const erase = async () => {
    const { erased_at } = await client.ownData.erase({ messages, confirm })
    tell(
      state.grace_days === 0 ? deleteAccountTexts.begunNow : deleteAccountTexts.begun({ time: fullTimeOf(erased_at) }),
    )
    await signOut()
  }
  return (
    <Dialog title={deleteAccountTexts.title} onClose={onClose}>
      <MakeForm
        label={deleteAccountTexts.title}
        action={deleteAccountTexts.title}
        isReady={isConfirmed}
        isGrave
        onMake={erase}
      >
        <ul>
          {rooms > 0 && <li>{deleteAccountTexts.counts.rooms({ count: rooms })}</li>}
          {agents > 0 && <li>{deleteAccountTexts.counts.agents({ count: agents })}</li>}
          {streams > 0 && <li>{deleteAccountTexts.counts.streams({ count: streams })}</li>}
          {calls > 0 && <li>{deleteAccountTexts.counts.calls({ count: calls })}</li>}
          {webhooks > 0 && <li>{deleteAccountTexts.counts.webhooks({ count: webhooks })}</li>}
          {payments > 0 && <li>{deleteAccountTexts.counts.payments({ count: payments })}</li>}
          <li>{deleteAccountTexts.others}</li>
        </ul>
        <p>{state.grace_days > 0 ? deleteAccountTexts.grace({ days: state.grace_days }) : deleteAccountTexts.atOnce}</p>
        <fieldset className="stack">
          <legend className="label">{deleteAccountTexts.messages}</legend>
          <label className="check">
            <input
              type="radio"
              name="messages"
              checked={messages === 'unlink'}
              onChange={() => setMessages('unlink')}
            />
            <span>{deleteAccountTexts.unlink}</span>
          </label>
          <label className="check">
            <input type="radio" name="messages" checked={messages === 'erase'} onChange={() => setMessages('erase')} />
            <span>{deleteAccountTexts.erase}</span>
          </label>
        </fieldset>
        <label className="stack">
          <span className="label">{deleteAccountTexts.confirm({ name })}</span>
          <input
            className="input"
            dir="auto"
            autoComplete="off"
            required
            value={confirm}
            onChange={({ target }) => setConfirm(target.value)}
          />
        </label>
      </MakeForm>
    </Dialog>
  )
}
