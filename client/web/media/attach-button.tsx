import { type ChangeEvent, type ReactNode, useCallback, useRef, useState } from 'react'
import { lengthInBytes } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Menu } from '../kit/menu.tsx'
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
  const [isOpen, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const input = useRef<HTMLInputElement>(null)
  if (![offers.photo, offers.gif, offers.location, offers.pixel_art, offers.file, canSpeak, canPoll].includes(true))
    return null
  const pick = (event: ChangeEvent<HTMLInputElement>) => {
    const { files, accept } = event.target
    if (files) props.onFiles([...files], accept === '')
    event.target.value = ''
  }
  const choose = (accept: string) => () => {
    close()
    if (!input.current) return
    input.current.accept = accept
    input.current.click()
  }
  const ask = (what: Asked) => () => {
    close()
    props.onAsk(what)
  }

  return (
    <div className={styles.attach}>
      <button
        type="button"
        className="icon-button"
        aria-label={t.attach.title}
        title={t.attach.title}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        <Icon name="plus" />
      </button>
      <input ref={input} type="file" accept={pickable} multiple hidden aria-label={t.attach.files} onChange={pick} />
      {isOpen && (
        <Menu label={t.attach.title} onClose={close}>
          {(offers.photo || offers.gif) && (
            <Choice
              icon="image"
              title={offers.photo ? (offers.gif ? t.attach.photoOrGif : t.attach.photo) : t.attach.gif}
              onPress={choose(pickable)}
            >
              {offers.photo && t.attach.photoHint}{' '}
              {offers.gif && t.attach.gifHint({ size: lengthInBytes(props.mostBytes) })}
            </Choice>
          )}
          {offers.file && (
            <Choice icon="file" title={t.attach.file} onPress={choose('')}>
              {t.attach.fileHint}
            </Choice>
          )}
          {canSpeak && (
            <Choice icon="microphone" title={t.attach.voice} onPress={ask('voice')}>
              {t.attach.voiceHint}
            </Choice>
          )}
          {canPoll && (
            <Choice icon="poll" title={t.attach.poll} onPress={ask('poll')}>
              {t.attach.pollHint}
            </Choice>
          )}
          {offers.location && (
            <Choice icon="place" title={t.attach.place} onPress={ask('place')}>
              {t.attach.placeHint}
            </Choice>
          )}
          {offers.pixel_art && (
            <Choice icon="grid" title={t.attach.pixelArt} onPress={ask('pixel_art')}>
              {t.attach.pixelArtHint}
            </Choice>
          )}
        </Menu>
      )}
    </div>
  )
}

function Choice(props: { icon: IconName; title: string; onPress: () => void; children: ReactNode }) {
  return (
    <button type="button" role="menuitem" onClick={props.onPress}>
      <Icon name={props.icon} />
      <span className="grow">
        {props.title}
        <small>{props.children}</small>
      </span>
    </button>
  )
}
