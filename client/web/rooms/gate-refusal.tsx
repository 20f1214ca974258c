import { useState } from 'react'
import type { Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { lengthOf, secondsUntil } from '../kit/format.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { GateCard, shownOf } from './gate-card.tsx'
import { refOf } from './use-rooms.ts'

/** What the server looked at before it refused, and a way to have it look again, once a minute. */
export function GateRefusal(props: {
  room: Room
  refusal: AppError
  isPage?: boolean
  onPassed: () => Promise<void>
  onBack: () => void
}) {
  const client = useClient()
  const [shown, setShown] = useState(() => shownOf(props.refusal))
  const [until, setUntil] = useState<string | null>(null)
  const [isStill, setStill] = useState(false)
  const wait = Math.ceil(secondsUntil(until, useNowUntil(until)))

  const waitFor = (seconds: number) => setUntil(new Date(Date.now() + seconds * 1_000).toISOString())
  const recheck = async () => {
    if (wait > 0) return
    try {
      const { answer } = await client.rooms.recheckGate({ room: refOf(props.room) })
      waitFor(recheckSeconds)
      if (!answer || answer.passed) return await props.onPassed()
      setShown(answer)
      setStill(true)
    } catch (error) {
      if (error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED')
        return waitFor(error.retryAfter ?? recheckSeconds)
      throw error
    }
  }

  return (
    <GateCard room={props.room.name} shown={shown} none={t.gate.noAddress} isPage={props.isPage ?? false}>
      <p className="hint" role="status">
        {wait > 0 ? (isStill ? t.gate.stillWait : t.gate.wait)({ time: lengthOf(wait) }) : t.gate.cached}
      </p>
      <div className="row end">
        <button type="button" className="button plain" onClick={props.onBack}>
          {t.gate.back}
        </button>
        <ActButton className="button main" disabled={wait > 0} onPress={recheck}>
          {wait > 0 ? t.gate.againIn({ time: lengthOf(wait) }) : t.gate.again}
        </ActButton>
      </div>
    </GateCard>
  )
}

const recheckSeconds = 60
