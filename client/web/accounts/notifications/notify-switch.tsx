import { useState } from 'react'
import { useTell } from '../../kit/toasts.tsx'
import { canNotify, isNotified, setNotified } from '../../rooms/use-attention.ts'
import { settingTexts as t } from '../../texts/settings.ts'

/** Whether this browser shows notifications of direct messages and mentions while the page is hidden. */
export function NotifySwitch() {
  const tell = useTell()
  const [isOn, setOn] = useState(isNotified)
  if (!canNotify()) return null
  const change = async (isWanted: boolean) => {
    const isNow = await setNotified(isWanted)
    setOn(isNow)
    if (isWanted && !isNow) tell(t.notifications.refused)
  }
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={(event) => void change(event.target.checked)} />
      {t.notifications.open}
    </label>
  )
}
