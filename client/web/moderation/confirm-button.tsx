import { useEffect, useState } from 'react'

const patienceMilliseconds = 3_000

/** Acts on the second press only. */
export function ConfirmButton(props: { title: string; onConfirm: () => void }) {
  const [isAsking, setAsking] = useState(false)
  useEffect(() => {
    if (!isAsking) return
    const timer = setTimeout(() => setAsking(false), patienceMilliseconds)
    return () => clearTimeout(timer)
  }, [isAsking])
  const press = () => {
    if (isAsking) props.onConfirm()
    setAsking(!isAsking)
  }
  return (
    <button type="button" className={`button small ${isAsking ? 'grave' : ''}`} onClick={press}>
      {isAsking ? `${props.title}: sure?` : props.title}
    </button>
  )
}
