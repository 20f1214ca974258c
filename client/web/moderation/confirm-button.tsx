import { useEffect, useState } from 'react'
import { ActButton } from '../kit/act-button.tsx'
import { moderationTexts as t } from '../texts/moderation.ts'

const shownMilliseconds = 3_000

/** A button that acts on the second press only. */
export function ConfirmButton(props: {
  title: string
  /** Whom or what it is about, where that is not said beside it. */
  of?: string
  onConfirm: () => Promise<unknown>
}) {
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    if (!isAsking) return
    const timer = setTimeout(() => setAsking(false), shownMilliseconds)
    return () => clearTimeout(timer)
  }, [isAsking])
  const press = async () => {
    setAsking(!isAsking)
    if (isAsking) await props.onConfirm()
  }
  const { title: action, of: name } = props
  const askedOf = isAsking ? t.confirmOf : t.actionOf
  const said = isAsking ? t.confirm({ action }) : action
  return (
    <ActButton
      className={`button small ${isAsking ? 'grave' : 'risky'}`}
      aria-label={name && askedOf({ action, name })}
      onPress={press}
    >
      {said}
    </ActButton>
  )
}
