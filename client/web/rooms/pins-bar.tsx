import { useState } from 'react'
import type { Message } from '#shared/api/message'
import { fromBlocked, useBlocked } from '../accounts/use-blocked.ts'
import { nameOf, plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { lineOf } from '../media/words.ts'
import { useOpenRoom } from './room-context.ts'

export function PinsBar({ pins }: { pins: readonly Message[] }) {
  const { jumpTo } = useOpenRoom()
  const blocked = useBlocked()
  const [isOpen, setOpen] = useState(false)
  const shown = pins.filter((pin) => !pin.is_deleted)
  if (shown.length === 0) return null
  return (
    <section className="pins" aria-label="Pinned messages">
      <ol>
        {(isOpen ? shown : shown.slice(0, 1)).map((pin) => (
          <li key={pin.id}>
            <button type="button" className="pin" onClick={() => jumpTo(pin.id, pin.seq)}>
              <Icon name="pin" />
              <strong>{nameOf(pin.sender.name, pin.sender_address)}</strong>
              <span>{blocked.has(pin.sender_address) ? fromBlocked : lineOf(pin.content, pin.message_type)}</span>
            </button>
          </li>
        ))}
      </ol>
      {shown.length > 1 && (
        <button type="button" className="button small plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer' : plural(shown.length, 'pin')}
        </button>
      )}
    </section>
  )
}
