import { useEffect, useState } from 'react'

/** The current time, updated each second until `end` has passed. */
export function useNowUntil(end: string | null | undefined): number {
  const [now, setNow] = useState(Date.now)
  const endsAt = end ? Date.parse(end) : 0
  useEffect(() => {
    setNow(Date.now())
    if (endsAt <= Date.now()) return
    const timer = setInterval(() => {
      setNow(Date.now())
      if (endsAt <= Date.now()) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [endsAt])
  return now
}
