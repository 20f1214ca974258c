import { type ChangeEvent, type ReactNode, useCallback, useRef, useState } from 'react'
import { lengthInBytes } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Menu } from '../kit/menu.tsx'
import type { Offers } from '../messages/composer-status.tsx'
import styles from './attach-button.module.css'
import { pickable } from './prepare.ts'

type Asked = 'voice' | 'poll' | 'place' | 'pixel_art'

/** The menu of what can be sent here beside text. Kinds that the room does not allow are not in it. */
export function AttachButton(props: {
  offers: Offers
  canPoll: boolean
  canSpeak: boolean
  mostBytes: number
  onPictures: (files: readonly File[]) => void
  onAsk: (what: Asked) => void
}) {
  const { offers, canPoll, canSpeak } = props
  const [isOpen, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const input = useRef<HTMLInputElement>(null)
  if (![offers.photo, offers.gif, offers.location, offers.pixel_art, canSpeak, canPoll].includes(true)) return null
  const pick = (event: ChangeEvent<HTMLInputElement>) => {
    const { files } = event.target
    if (files) props.onPictures([...files])
    event.target.value = ''
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
        aria-label="Attach"
        title="Attach"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(true)}
      >
        <Icon name="plus" />
      </button>
      <input ref={input} type="file" accept={pickable} multiple hidden aria-label="Photos and GIFs" onChange={pick} />
      {isOpen && (
        <Menu label="Attach" onClose={close}>
          {(offers.photo || offers.gif) && (
            <Choice
              icon="image"
              title={offers.photo ? (offers.gif ? 'Photo or GIF' : 'Photo') : 'GIF'}
              onPress={() => {
                close()
                input.current?.click()
              }}
            >
              {offers.photo ? 'Scaled down, without its metadata. ' : ''}
              {offers.gif ? `GIF: at most ${lengthInBytes(props.mostBytes)}.` : ''}
            </Choice>
          )}
          {canSpeak && (
            <Choice icon="microphone" title="Voice message" onPress={ask('voice')}>
              Recorded here; you listen before it is sent.
            </Choice>
          )}
          {canPoll && (
            <Choice icon="poll" title="Poll" onPress={ask('poll')}>
              A question with choices.
            </Choice>
          )}
          {offers.location && (
            <Choice icon="place" title="Location" onPress={ask('place')}>
              Rounded to about 100 metres.
            </Choice>
          )}
          {offers.pixel_art && (
            <Choice icon="grid" title="Pixel art" onPress={ask('pixel_art')}>
              Drawn here.
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
