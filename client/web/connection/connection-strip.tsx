import { Icon } from '../kit/icon.tsx'
import { useConnectionState } from './client.ts'
import styles from './connection.module.css'
import { useCut } from './cut.ts'

const words = {
  connecting: null,
  online: null,
  offline: 'Offline. What you write waits, and goes out in order.',
  rest: 'This network blocks the fast connection. What is new comes a little later.',
  closed: 'Disconnected. Reload the page to come back.',
} as const

/** Says above everything else what is wrong with the connection, for as long as it is; a first attempt is not wrong yet. */
export function ConnectionStrip() {
  const state = useConnectionState()
  const [isCut, cut] = useCut()
  const text = isCut ? 'You are cut off. What you write waits, and goes out in order.' : words[state]
  if (text === null) return null
  return (
    <p className={`${styles.connectionStrip} ${isCut ? 'offline' : state}`} role="status">
      <Icon name="plug" />
      <span className="grow">{text}</span>
      {isCut && (
        <button type="button" className="button small" onClick={() => cut(false)}>
          Connect again
        </button>
      )}
    </p>
  )
}
