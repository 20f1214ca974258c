import { useState } from 'react'
import { Icon } from '../kit/icon.tsx'
import { useClient, useConnectionState } from './client.ts'

const words = {
  connecting: 'Connecting',
  online: 'Live',
  offline: 'Offline',
  rest: 'Live, slower way',
  closed: 'Disconnected',
} as const

/** A dot and a word, and a switch that cuts the connection on purpose. */
export function ConnectionBar() {
  const client = useClient()
  const state = useConnectionState()
  const [isCut, setCut] = useState(false)

  const toggle = () => {
    if (isCut) client.resume()
    else client.pause()
    setCut(!isCut)
  }

  return (
    <div className="connection-bar">
      <ConnectionWord state={isCut ? 'offline' : state} />
      <button type="button" className="button small plain" aria-pressed={isCut} onClick={toggle}>
        <Icon name="plug" />
        {isCut ? 'Reconnect' : 'Drop my connection'}
      </button>
    </div>
  )
}

export function ConnectionWord({ state }: { state: keyof typeof words }) {
  return (
    <span className={`connection ${state}`} role="status">
      <i aria-hidden="true" />
      {words[state]}
    </span>
  )
}
