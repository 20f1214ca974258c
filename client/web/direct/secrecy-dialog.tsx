import type { DirectDevice, DirectState } from '#client/sdk/types'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { directTexts as t } from '../texts/direct.ts'
import { useTitle } from './people.ts'
import styles from './secrecy-dialog.module.css'

/** What is sealed in this conversation, and the number by which two people know that nobody stands between them. */
export function SecrecyDialog({ direct, onClose }: { direct: DirectState; onClose: () => void }) {
  const { live } = useOpenRoom()
  const titleOf = useTitle()
  const seen = direct.devices.map(({ deviceId, state }) => deviceId + state).join(' ')
  const number = useLoaded(`safety ${live.ref.id} ${seen}`, async () => [await live.safetyNumber()])
  return (
    <Dialog title={t.safety.title} onClose={onClose}>
      <div className="stack wide">
        <p>{t.safety.who}</p>
        <p>{t.safety.compare}</p>
        <Listed loaded={number} empty={null}>
          {([groups = []]) => (
            <ol className={`${styles.safetyNumber} numerals`} aria-label={t.safety.title}>
              {groups.map((group, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two groups may be equal, and each stays in its place.
                <li key={at}>{group}</li>
              ))}
            </ol>
          )}
        </Listed>
        <ul className="quiet-list">
          {direct.devices.map((device) => (
            <li key={device.deviceId} className="row">
              <Icon name="device" />
              <span className="grow">
                <strong>{titleOf(device.address)}</strong> <small className="hint">{textOf(device)}</small>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

function textOf({ state, isVouched, since }: DirectDevice): string {
  const shown = { state: t.devices[state], time: fullTimeOf(new Date(since).toISOString()) }
  return isVouched ? t.safety.verified(shown) : t.safety.unverified(shown)
}
