import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import { archiveDays, type DataExport } from '#shared/api/platform/own-data'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { fullTimeOf, lengthInBytes, timeOf } from '../../kit/format.ts'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { DeleteAccount } from './delete-account.tsx'

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
            <ActButton className="button" onPress={begin}>
              {last ? t.data.makeAgain : t.data.make}
            </ActButton>
            <span className="hint">{t.data.makeHint}</span>
          </div>
        </>
      )}
    </section>
  )
}

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
