import type { ConnectionState } from '#client/sdk/types'
import styles from './connection-word.module.css'

const words: Readonly<Record<ConnectionState, string>> = {
  connecting: 'Connecting',
  online: 'Live',
  offline: 'Offline',
  rest: 'Live, slower way',
  closed: 'Disconnected',
}

/** The state of the connection as a dot and a word, for who has not come in yet. */
export function ConnectionWord({ state }: { state: ConnectionState }) {
  return (
    <span className={`${styles.connection} ${state}`} role="status">
      <i aria-hidden="true" />
      {words[state]}
    </span>
  )
}
