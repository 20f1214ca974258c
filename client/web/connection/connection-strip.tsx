import { Icon } from '../kit/icon.tsx'
import { connectionTexts as t } from '../texts/connection.ts'
import { useConnectionState } from './client.ts'
import styles from './connection.module.css'
import { useCut } from './cut.ts'

/** Says above everything else what is wrong with the connection, for as long as it is; a first attempt is not wrong yet. */
export function ConnectionStrip() {
  const state = useConnectionState()
  const [isCut, cut] = useCut()
  const problem = isCut ? 'cut' : state
  if (problem === 'connecting' || problem === 'online') return null
  return (
    <p className={`${styles.connectionStrip} ${isCut ? 'offline' : state}`} role="status">
      <Icon name="plug" />
      <span className="grow">{t.problems[problem]}</span>
      {isCut && (
        <button type="button" className="button small" onClick={() => cut(false)}>
          {t.reconnect}
        </button>
      )}
    </p>
  )
}
