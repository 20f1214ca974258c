import { useState } from 'react'
import { AppError } from '#shared/errors'
import { metresText } from '#shared/kit/earth'
import type { RoomRef } from '#shared/kit/primitives'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { whereIAm } from '../kit/position.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { GateCard, type Shown, shownOf } from './gate-card.tsx'
import styles from './rooms.module.css'

/** As exact as the server takes it. */
const decimals = 4

export const positionWords = t.place.privacy

export interface PlaceRoom {
  ref: RoomRef
  name: string
  gate: { place_name: string; radius_m: number }
}

/** The gate of the room of a place, and a way in by a press: the browser is asked for the position then, not before. */
export function JoinPlace(props: {
  room: PlaceRoom
  refusal?: AppError
  /** It stands below the title of the page, and not in a dialog. */
  isPage?: boolean
  onJoined: () => void
  onBack?: () => void
}) {
  const client = useClient()
  const [shown, setShown] = useState<Shown | null>(() => (props.refusal ? shownOf(props.refusal) : null))
  const [error, setError] = useState<unknown>(null)
  const { isPage = false } = props
  const { ref, name, gate } = props.room
  const Title = isPage ? 'h2' : 'h3'
  const join = async () => {
    setError(null)
    try {
      await client.rooms.join({ room: ref, position: await whereIAm(decimals) })
      props.onJoined()
    } catch (cause) {
      if (cause instanceof AppError && cause.code === 'GATE_NOT_PASSED') setShown(shownOf(cause))
      else setError(cause)
    }
  }
  const acts = (
    <>
      <p className="hint">{positionWords}</p>
      <Problem error={error} />
      <div className="row end">
        {props.onBack && (
          <button type="button" className="button plain" onClick={props.onBack}>
            {t.gate.back}
          </button>
        )}
        <ActButton className="button main" onPress={join}>
          <Icon name="place" /> {shown ? t.place.useAgain : t.place.use}
        </ActButton>
      </div>
    </>
  )
  if (shown)
    return (
      <GateCard room={name} shown={shown} none={t.place.none} isPage={isPage}>
        {acts}
      </GateCard>
    )
  return (
    <section className={`${styles.gate} stack`} aria-labelledby="gate-title">
      <Title id="gate-title">
        <Icon name="place" /> {t.place.title({ place: isolated(gate.place_name) })}
      </Title>
      <p>{t.place.hint({ distance: metresText(gate.radius_m), room: isolated(name) })}</p>
      {acts}
    </section>
  )
}
