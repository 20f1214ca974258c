import type { ConnectionState } from '#client/sdk/types'
import { kitTexts } from '../texts/kit.ts'
import styles from './connection-word.module.css'

/** The state of the connection as a dot and a word, for who has not come in yet. */
export function ConnectionWord({ state }: { state: ConnectionState }) {
  return (
    <span className={`${styles.connection} ${state}`} role="status">
      <i aria-hidden="true" />
      {kitTexts.connection[state]}
    </span>
  )
}
