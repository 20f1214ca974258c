import { type ChangeEvent, useRef } from 'react'
import { lengthInBytes } from '../kit/format.ts'
import { MenuButton, MenuItem } from '../kit/menu.tsx'
import type { Offers } from '../messages/composer-status.tsx'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './attach-button.module.css'
import { pickable } from './prepare.ts'

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
    <div className={styles.attach}>
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
