import { lengthInBytes } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { problemText } from '../kit/problem.ts'
import { mediaTexts as t } from '../texts/media.ts'
import mediaStyles from './media.module.css'
import type { Sending } from './tray.ts'
import styles from './tray-list.module.css'
import { useObjectUrl } from './use-object-url.ts'
import { mostFileBytes, type UsedTray } from './use-tray.ts'
import { clock, VoicePlayer } from './voice-player.tsx'
import { hasErrorCode, uploadText } from './words.ts'

/** What is about to be sent: shown before it is, and while it is uploaded. */
export function TrayList({ tray }: { tray: UsedTray }) {
  if (tray.items.length === 0) return null
  return (
    <ul className={styles.tray} aria-label={t.tray.title}>
      {tray.items.map((item) => (
        <Row key={item.id} item={item} tray={tray} />
      ))}
    </ul>
  )
}

function Row({ item, tray }: { item: Sending; tray: UsedTray }) {
  const { id, kind, blob, name, state, seconds } = item
  const isBad = state === 'failed' || state === 'unfit'
  return (
    <li className={`${mediaStyles.trayItem} ${kind === 'voice' ? 'is-voice' : ''}`}>
      {kind === 'voice' && blob && state === 'ready' ? (
        <VoicePlayer sound={blob} seconds={seconds} />
      ) : (
        <>
          <Thumbnail item={item} />
          <div className="grow">
            <p className={styles.trayName}>{kind === 'voice' ? `${name}, ${clock(seconds)}` : name}</p>
            <p className={`${styles.trayState} ${isBad ? 'grave' : ''}`} role={isBad ? 'alert' : undefined}>
              {wordsOf(item, kind === 'file' ? mostFileBytes : tray.mostBytes)}
            </p>
            {state === 'uploading' && (
              <progress aria-label={t.tray.uploading({ name })} max={1} value={item.progress}>
                {Math.round(item.progress * 100)} %
              </progress>
            )}
          </div>
        </>
      )}
      {state === 'failed' && !hasErrorCode(item.error, 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE') && (
        <button type="button" className="button small" onClick={tray.retry}>
          <Icon name="retry" />
          {t.tray.retry}
        </button>
      )}
      <button
        type="button"
        className="icon-button small"
        aria-label={(state === 'uploading' ? t.tray.cancelOf : t.tray.removeOf)({ name })}
        title={state === 'uploading' ? t.tray.cancel : t.tray.remove}
        onClick={() => tray.remove(id)}
      >
        <Icon name="close" />
      </button>
    </li>
  )
}

function Thumbnail({ item: { kind, blob } }: { item: Sending }) {
  const src = useObjectUrl(kind === 'voice' || kind === 'file' ? null : blob)
  return (
    <span className={styles.trayThumbnail}>
      {src ? (
        <img src={src} alt="" />
      ) : (
        <Icon name={kind === 'voice' ? 'microphone' : kind === 'file' ? 'file' : 'image'} />
      )}
    </span>
  )
}

function wordsOf({ state, kind, blob, error }: Sending, mostBytes: number): string {
  switch (state) {
    case 'preparing':
      return t.states.preparing
    case 'ready':
      return blob ? t.states.ready({ size: lengthInBytes(blob.size) }) : ''
    case 'waiting':
      return t.states.waiting
    case 'uploading':
      return t.states.uploading
    case 'failed':
      if (kind === 'file' && hasErrorCode(error, 'UNSUPPORTED_MEDIA_TYPE'))
        return t.states.failed({ reason: t.problems.program })
      return t.states.failed({ reason: uploadText(error, blob?.size ?? 0, mostBytes) })
    case 'unfit':
      return problemText(error)
  }
}
