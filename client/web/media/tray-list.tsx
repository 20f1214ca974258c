import { type ChangeEvent, useRef } from 'react'
import { lengthInBytes } from '../kit/byte-length.ts'
import { Icon } from '../kit/icon.tsx'
import { MenuButton, MenuItem } from '../kit/menu.tsx'
import { problemText } from '../kit/problem.ts'
import type { Offers } from '../messages/composer-status.tsx'
import { mediaTexts as t } from '../texts/media.ts'
import attachButtonStyles from './attach-button.module.css'
import mediaStyles from './media.module.css'
import { pickable } from './prepare.ts'
import styles from './tray-list.module.css'
import { useObjectUrl } from './use-object-url.ts'
import { mostFileBytes, type Sending, type UsedTray } from './use-tray.ts'
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

type Asked = 'voice' | 'poll' | 'place' | 'pixel_art'

/** The menu of what can be sent here beside text. Kinds that the room does not allow are not in it. */
export function AttachButton(props: {
  offers: Offers
  canPoll: boolean
  canSpeak: boolean
  mostBytes: number
  /** Pictures that are chosen as files stay as they are. */
  onFiles: (files: readonly File[], asFiles: boolean) => void
  onAsk: (what: Asked) => void
}) {
  const { offers, canPoll, canSpeak } = props
  const input = useRef<HTMLInputElement>(null)
  if (![offers.photo, offers.gif, offers.location, offers.pixel_art, offers.file, canSpeak, canPoll].includes(true))
    return null
  const pick = (event: ChangeEvent<HTMLInputElement>) => {
    const { files, accept } = event.target
    if (files) props.onFiles([...files], accept === '')
    event.target.value = ''
  }
  const choose = (accept: string) => () => {
    if (!input.current) return
    input.current.accept = accept
    input.current.click()
  }
  const ask = (what: Asked) => () => props.onAsk(what)

  return (
    <div className={attachButtonStyles.attach}>
      <MenuButton icon="plus" title={t.attach.title} label={t.attach.title} side="top" align="start">
        {(offers.photo || offers.gif) && (
          <MenuItem icon="image" onPress={choose(pickable)}>
            {offers.photo ? (offers.gif ? t.attach.photoOrGif : t.attach.photo) : t.attach.gif}
            <small>
              {offers.photo && t.attach.photoHint}{' '}
              {offers.gif && t.attach.gifHint({ size: lengthInBytes(props.mostBytes) })}
            </small>
          </MenuItem>
        )}
        {offers.file && (
          <MenuItem icon="file" onPress={choose('')}>
            {t.attach.file}
            <small>{t.attach.fileHint}</small>
          </MenuItem>
        )}
        {canSpeak && (
          <MenuItem icon="microphone" onPress={ask('voice')}>
            {t.attach.voice}
            <small>{t.attach.voiceHint}</small>
          </MenuItem>
        )}
        {canPoll && (
          <MenuItem icon="poll" onPress={ask('poll')}>
            {t.attach.poll}
            <small>{t.attach.pollHint}</small>
          </MenuItem>
        )}
        {offers.location && (
          <MenuItem icon="place" onPress={ask('place')}>
            {t.attach.place}
            <small>{t.attach.placeHint}</small>
          </MenuItem>
        )}
        {offers.pixel_art && (
          <MenuItem icon="grid" onPress={ask('pixel_art')}>
            {t.attach.pixelArt}
            <small>{t.attach.pixelArtHint}</small>
          </MenuItem>
        )}
      </MenuButton>
      <input ref={input} type="file" accept={pickable} multiple hidden aria-label={t.attach.files} onChange={pick} />
    </div>
  )
}
