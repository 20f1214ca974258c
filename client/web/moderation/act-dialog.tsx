import type { LiveRoom } from '#client/sdk/types'
import { Dialog } from '../kit/dialog.tsx'
import { moderationTexts as t } from '../texts/moderation.ts'
import { ActForm } from './act-form.tsx'
import { personActs } from './person-acts.ts'
import type { AskedAct } from './row-acts.ts'

/** Asks for what an act on the sender of a message wants to know. */
export function ActDialog({ asked, live, onClose }: { asked: AskedAct; live: LiveRoom; onClose: () => void }) {
  const { asks, person } = asked
  return (
    <Dialog title={t.actionOn({ action: personActs[asks].title, name: person.name })} onClose={onClose}>
      <div className="stack">
        <ActForm acts={[asks]} person={person} live={live} duration={asked.duration} onDone={onClose} />
      </div>
    </Dialog>
  )
}
