import { steps, type Verdict } from '#shared/api/moderation/verdict'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './verdict-why.module.css'

/** The list of all steps of the verdict, with the one that decided. */
export function VerdictWhy({ verdict, onClose }: { verdict: Verdict | null; onClose: () => void }) {
  const decided = verdict?.step ? steps.indexOf(verdict.step) : -1
  return (
    <Dialog title={t.verdict.checks} onClose={onClose}>
      <div className="stack">
        <p className="hint">{t.verdict.checksHint}</p>
        <ol className={styles.pipeline}>
          {steps.map((step, at) => (
            <li key={step} className={at === decided ? styles.decided : at < decided ? styles.passed : ''}>
              <span className={`${styles.stepMark} numerals`}>{at < decided ? <Icon name="check" /> : at + 1}</span>
              <span>
                <strong>{t.checks[step]}</strong>
                <small>{at === decided ? (verdict?.text ?? t.questions[step]) : t.questions[step]}</small>
              </span>
            </li>
          ))}
        </ol>
        {decided < 0 && <p className="hint">{t.verdict.untold}</p>}
      </div>
    </Dialog>
  )
}
