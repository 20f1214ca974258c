import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import { archiveDays, type DataExport } from '#shared/api/own-data'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, lengthInBytes } from '../kit/format.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
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
    tell('Your copy is being made. You can close this page.')
  }
  const download = async () => {
    const { url } = await client.ownData.exportUrl({})
    location.assign(url)
  }
  const last = value?.export ?? null
  return (
    <section className="stack" aria-label="Your data">
      <h3 className="label">Download your data</h3>
      <p className="hint">
        A ZIP file with your profile, your messages, your settings and everything else that Plaza stores about you. Open{' '}
        <code>index.html</code> in it with any browser. Direct messages are in it as Plaza stores them, which your
        devices alone can read.
      </p>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={2} />}
      {last && <Copy made={last} onDownload={download} />}
      {value && last?.state !== 'working' && (
        <>
          <label className="check">
            <input type="checkbox" checked={withFiles} onChange={({ target }) => setWithFiles(target.checked)} />
            <span>Include the files that you uploaded</span>
          </label>
          <div className="row">
            <ActButton className="button" onPress={begin}>
              {last ? 'Make a new copy' : 'Make a copy'}
            </ActButton>
            <span className="hint">Once a day. A new copy replaces the one before.</span>
          </div>
        </>
      )}
    </section>
  )
}

function Copy({ made, onDownload }: { made: DataExport; onDownload: () => Promise<void> }) {
  if (made.state === 'failed') return <p role="status">Your copy could not be made. Try again.</p>
  if (made.state === 'working')
    return (
      <div className="stack" role="status">
        <p>Your copy is being made.</p>
        <progress aria-label="Your copy" max={Math.max(1, made.total)} value={made.done} />
      </div>
    )
  return (
    <div className="row">
      <ActButton className="button main" onPress={onDownload}>
        Download
      </ActButton>
      <span className="hint" role="status">
        {lengthInBytes(made.bytes ?? 0)}, made on {fullTimeOf(made.finished_at ?? made.created_at)}. It is deleted after{' '}
        {archiveDays} days.
      </span>
    </div>
  )
}
