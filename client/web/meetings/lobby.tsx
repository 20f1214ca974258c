import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { DeviceButtons } from '../devices/device-buttons.tsx'
import { DeviceNotes } from '../devices/device-notes.tsx'
import { OwnMedia } from '../devices/own-media.ts'
import { meetingTexts as t } from '../texts/meetings.ts'
import styles from './meetings.module.css'
import { Picture } from './picture.tsx'

/** Before a meeting: under which name, and what the others will see and hear. */
export function Lobby(props: { name: string; isVoiceOnly: boolean; onEnter: (name: string, own: OwnMedia) => void }) {
  const { isVoiceOnly } = props
  const [own] = useState(() => new OwnMedia())
  const tracks = useSyncExternalStore(own.subscribe, () => own.state)
  const [name, setName] = useState(props.name)
  const isTaken = useRef(false)
  useEffect(() => {
    void (isVoiceOnly ? own.open(false) : own.open())
    return () => {
      if (!isTaken.current) own.close()
    }
  }, [own, isVoiceOnly])

  const enter = (event: FormEvent) => {
    event.preventDefault()
    const wanted = name.trim()
    if (wanted === '') return
    isTaken.current = true
    props.onEnter(wanted, own)
  }
  return (
    <form className={styles.meetingLobby} onSubmit={enter}>
      <Picture track={tracks.video} name={name.trim() || t.inside.you} id="me" isMine label={t.lobby.picture} />
      <div className="stack">
        <DeviceButtons own={own} tracks={tracks} />
        <DeviceNotes tracks={tracks} />
        <label className="field">
          <span>{t.lobby.name}</span>
          <input
            dir="auto"
            className="input"
            maxLength={50}
            required
            autoComplete="name"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <button type="submit" className="button main">
          {t.lobby.enter}
        </button>
        <p className="hint">{t.lobby.hint}</p>
      </div>
    </form>
  )
}
