import { useState } from 'react'
import type { Place } from '#client/sdk/media'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { whereIAm } from '../kit/position.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { mediaTexts as t } from '../texts/media.ts'
import { inDegrees, PlaceCard } from './place-card.tsx'
import { sendPlace } from './use-tray.ts'

/** About 100 metres. */
const decimals = 3

/** Sends where one is. The browser is asked for the position by a press alone, and it is rounded before anything else. */
export function PlaceForm({ onSent, onClose }: { onSent: () => void; onClose: () => void }) {
  const { live, isSealed } = useOpenRoom()
  const [place, setPlace] = useState<Place | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const find = async () => {
    setBusy(true)
    setError(null)
    try {
      setPlace(await whereIAm(decimals))
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }
  const send = async () => {
    if (!place) return
    sendPlace(live, place)
    onSent()
    onClose()
  }

  return (
    <Dialog title={t.place.title} onClose={onClose}>
      <div className="stack">
        <p>{t.place.hint({ where: isSealed ? 'conversation' : 'room' })}</p>
        {place && <PlaceCard place={place} />}
        <Problem error={error} />
        <div className="row end">
          <button type="button" className="button" aria-disabled={isBusy || undefined} onClick={() => void find()}>
            <Icon name="place" />
            {isBusy ? t.place.finding : place ? t.place.findAgain : t.place.find}
          </button>
          {place && (
            <button
              type="button"
              className="button main"
              aria-label={t.place.sendOf({ place: inDegrees(place) })}
              onClick={() => void send().catch(setError)}
            >
              {t.place.send}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  )
}
