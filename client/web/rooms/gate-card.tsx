import type { ReactNode } from 'react'
import { type GateAnswer, GateCheck } from '#shared/api/rooms/gates'
import type { AppError } from '#shared/errors'
import { takeLostFocus } from '../kit/focus.ts'
import { isolated, lengthOf, shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { roomTexts as t } from '../texts/rooms.ts'
import styles from './gate-card.module.css'
import roomsStyles from './rooms.module.css'

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
