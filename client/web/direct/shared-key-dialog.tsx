import { Dialog } from '../kit/dialog.tsx'
import { directTexts as t } from '../texts/direct.ts'

/** What the shared key of a room protects from, and what not. */
export function SharedKeyDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t.badge.sharedKey} onClose={onClose}>
      <div className="stack wide">
        <p>{t.sharedKey.who}</p>
        <p>{t.sharedKey.operator}</p>
        <p>{t.sharedKey.limits}</p>
      </div>
    </Dialog>
  )
}
