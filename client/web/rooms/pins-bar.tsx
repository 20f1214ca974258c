import type { Message } from '#shared/api/rooms/message'
import { fromBlocked, useBlocked } from '../accounts/use-blocked.ts'
import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { lineOf } from '../media/words.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import styles from './pins-bar.module.css'
import { useOpenRoom } from './room-context.ts'
import roomsStyles from './rooms.module.css'
import { goTo } from './route.ts'

/** The newest pin above the messages; the others are in the panel. */
export function PinsBar({ pins }: { pins: readonly Message[] }) {
  const { live, jumpTo } = useOpenRoom()
  const blocked = useBlocked()
  const shown = pins.filter((pin) => !pin.is_deleted)
  const [pin] = shown
  if (!pin) return null
  return (
    <section className={roomsStyles.pins} aria-label={t.pins.title}>
      <button type="button" className={styles.pin} onClick={() => jumpTo(pin.id, pin.seq)}>
        <Icon name="pin" />
        <strong>{nameOf(pin.sender.name, pin.sender_address)}</strong>
        <span dir="auto">{blocked.has(pin.sender_address) ? fromBlocked : lineOf(pin.content, pin.message_type)}</span>
      </button>
      {shown.length > 1 && (
        <button type="button" className="button small plain" onClick={() => goTo(live.ref, 'pins')}>
          {t.pins.count({ count: shown.length })}
        </button>
      )}
    </section>
  )
}
