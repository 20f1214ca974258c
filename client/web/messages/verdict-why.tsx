import { steps, type Verdict } from '#shared/api/verdict'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import styles from './verdict-why.module.css'
import { stepNames } from './verdict-words.ts'

/** The list of all steps of the verdict, with the one that decided. */
export function VerdictWhy({ verdict, onClose }: { verdict: Verdict | null; onClose: () => void }) {
  const decided = verdict?.step ? steps.indexOf(verdict.step) : -1
  return (
    <Dialog title="How a message is judged" onClose={onClose}>
      <div className="stack">
        <p className="hint">
          Every message goes through the same steps in the same order, whichever way it is sent. The first step that
          says no decides.
        </p>
        <ol className={styles.pipeline}>
          {steps.map((step, at) => (
            <li key={step} className={at === decided ? styles.decided : at < decided ? styles.passed : ''}>
              <span className={`${styles.stepMark} numerals`}>{at < decided ? <Icon name="check" /> : at + 1}</span>
              <span>
                <strong>{stepNames[step].title}</strong>
                <small>{at === decided ? (verdict?.text ?? stepNames[step].asks) : stepNames[step].asks}</small>
              </span>
            </li>
          ))}
        </ol>
        {decided < 0 && <p className="hint">The room does not say which step decided here.</p>}
      </div>
    </Dialog>
  )
}
