import { useState } from 'react'
import { useTell } from '../kit/toasts.tsx'
import { canNotify, isNotified, setNotified } from '../rooms/use-attention.ts'

/** What is told where the browser does not let the page notify. */
export const refused =
  'Your browser does not let this page notify you. Allow notifications in its settings of this site, then try again.'

/** Whether this browser shows notifications of direct messages and mentions while the page is hidden. */
export function NotifySwitch() {
  const tell = useTell()
  const [isOn, setOn] = useState(isNotified)
  if (!canNotify()) return null
  const change = async (isWanted: boolean) => {
    const isNow = await setNotified(isWanted)
    setOn(isNow)
    if (isWanted && !isNow) tell(refused)
  }
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={(event) => void change(event.target.checked)} />
      Notify me of direct messages and mentions
    </label>
  )
}
