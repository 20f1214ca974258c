import type { RoomState } from '#client/sdk/types'
import { Icon } from '../kit/icon.tsx'
import { roomTexts as t } from '../texts/rooms.ts'
import { useOpenRoom } from './room-context.ts'
import styles from './rooms.module.css'
import { RulesText, rulesTitle } from './rules-sheet.tsx'
import { useNewRules } from './seen-rules.ts'

/** The rules of a room, shown above the message field until the account has acknowledged them. */
export function RulesCard({ state }: { state: RoomState }) {
  const { live, account, rights } = useOpenRoom()
  const [isShown, hide] = useNewRules(account, live.ref, state)
  if (!isShown || rights.isModerator) return null
  const title = rulesTitle(state.room?.name)
  return (
    <section className={styles.rulesCard} aria-label={title}>
      <header>
        <Icon name="book" />
        <strong className="grow">{title}</strong>
        <button type="button" className="button small main" onClick={hide}>
          {t.rules.accept}
        </button>
      </header>
      <div className={styles.rulesCardBody}>
        <RulesText rules={state.rules} isShort />
      </div>
    </section>
  )
}
