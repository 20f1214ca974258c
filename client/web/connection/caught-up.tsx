import { useEffect, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'

const shownMilliseconds = 12_000

/** After a break: how much was missed and that none of it is missing. */
export function CaughtUp({ caughtUp }: { caughtUp: RoomState['caughtUp'] }) {
  const [hiddenAt, setHiddenAt] = useState(0)
  const at = caughtUp?.at ?? 0
  useEffect(() => {
    if (!at) return
    const timer = setTimeout(() => setHiddenAt(at), shownMilliseconds)
    return () => clearTimeout(timer)
  }, [at])

  if (!caughtUp || caughtUp.at === hiddenAt || (caughtUp.events === 0 && caughtUp.gaps === 0)) return null
  return (
    <p className="caught-up" role="status">
      <Icon name="check" />
      Caught up {plural(caughtUp.events, 'event')}, {plural(caughtUp.gaps, 'gap')}
    </p>
  )
}
