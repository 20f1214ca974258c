import { Icon } from '../kit/icon.tsx'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './media.module.css'

/** Why media are not shown, in their place. */
export function MediaFault({ text, onRetry }: { text: string; onRetry?: () => void }) {
  return (
    <div className={styles.mediaFault}>
      <Icon name="warn" />
      <p>{text}</p>
      {onRetry && (
        <button type="button" className="button small" onClick={onRetry}>
          <Icon name="retry" />
          {t.faults.retry}
        </button>
      )}
    </div>
  )
}
