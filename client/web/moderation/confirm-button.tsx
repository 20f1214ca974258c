import { useEffect, useState } from 'react'
import { ActButton } from '../kit/act-button.tsx'

const shownMilliseconds = 3_000

/** A button that acts on the second press only. */
export function ConfirmButton(props: { title: string; onConfirm: () => Promise<unknown> }) {
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
  return (
    <ActButton className={`button small ${isAsking ? 'grave' : 'risky'}`} onPress={press}>
      {isAsking ? `${props.title}: sure?` : props.title}
    </ActButton>
  )
}
