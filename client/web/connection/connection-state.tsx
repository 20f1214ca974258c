import { Icon } from '../kit/icon.tsx'
import { useConnectionState } from './client.ts'
import { useCut } from './cut.ts'

const words = {
  connecting: 'Connecting',
  online: 'Live',
  offline: 'Offline',
  rest: 'Live, slower way',
  closed: 'Disconnected',
} as const

/** The state of the connection as a dot and a word, with a switch that cuts the connection on purpose. */
export function ConnectionBar() {
  const state = useConnectionState()
  const [isCut, cut] = useCut()

  return (
    <div className="connection-bar">
      <ConnectionWord state={isCut ? 'offline' : state} />
      <button type="button" className="button small plain" aria-pressed={isCut} onClick={() => cut(!isCut)}>
        <Icon name="plug" />
        <span className="line">{isCut ? 'Reconnect' : 'Drop my connection'}</span>
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
