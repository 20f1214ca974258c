import { type ReactNode, useState } from 'react'
import { type GateAnswer, GateCheck } from '#shared/api/rooms/gates'
import type { Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { takeLostFocus } from '../kit/focus.ts'
import { isolated, lengthOf, secondsUntil, shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useNowUntil } from '../kit/use-now.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import styles from './gate-card.module.css'
import roomsStyles from './rooms.module.css'
import { refOf } from './use-rooms.ts'

export type Shown = Pick<GateAnswer, 'text' | 'checked'>

/** What a refusal tells of the gate: its reason, and what was looked at. */
export function shownOf({ message, details }: AppError): Shown {
  const { data } = GateCheck.array().safeParse(details?.checked)
  return { text: message, checked: data ?? [] }
}

/** A gate that did not let somebody in, with what was looked at; the children say what can be done. */
export function GateCard(props: { room: string; shown: Shown; none: string; isPage?: boolean; children: ReactNode }) {
  const Title = props.isPage ? 'h2' : 'h3'
  const { text, checked } = props.shown
  return (
    <section className={`${roomsStyles.gate} stack`} aria-labelledby="gate-title" aria-describedby="gate-reason">
      <Title id="gate-title" tabIndex={-1} ref={takeLostFocus}>
        <Icon name="lock" /> {t.gate.refused({ room: isolated(props.room) })}
      </Title>
      <p id="gate-reason">{t.gate.reason({ reason: text })}</p>
      <ul className={styles.gateChecks}>
        {checked.map((check) => (
          <li key={`${check.subject} ${check.requirement}`}>
            <span>
              <strong title={check.subject}>{shortAddress(check.subject)}</strong> {check.result}
            </span>
            <small>
              {check.cached_age_s > 0
                ? t.gate.asked({ source: check.source, time: lengthOf(check.cached_age_s) })
                : t.gate.askedNow({ source: check.source })}
            </small>
          </li>
        ))}
      </ul>
      {checked.length === 0 && <p className="hint">{props.none}</p>}
      {props.children}
    </section>
  )
}

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
