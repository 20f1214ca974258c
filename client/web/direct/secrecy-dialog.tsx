import type { DirectDevice, DirectState } from '#client/sdk/types'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { useTitle } from './people.ts'
import styles from './secrecy-dialog.module.css'

/** What is sealed in this conversation, and the number by which two people know that nobody stands between them. */
export function SecrecyDialog({ direct, onClose }: { direct: DirectState; onClose: () => void }) {
  const { live } = useOpenRoom()
  const titleOf = useTitle()
  const seen = direct.devices.map(({ deviceId, state }) => deviceId + state).join(' ')
  const number = useLoaded(`safety ${live.ref.id} ${seen}`, async () => [await live.safetyNumber()])
  return (
    <Dialog title="Safety number" onClose={onClose}>
      <div className="stack wide">
        <p>
          Text and media here are sealed on your devices, and those who run this server cannot read them. They do see
          who writes to whom, when, how long the messages are, reactions, and what is pinned. Search, link previews,
          blocked words and agents do not work here, as they would have to read the messages.
        </p>
        <p>
          Compare these numbers with the other person, by phone or side by side. If they are equal, nobody stands
          between you.
        </p>
        <Listed loaded={number} empty={null}>
          {([groups = []]) => (
            <ol className={`${styles.safetyNumber} numerals`} aria-label="Safety number">
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
                <strong>{titleOf(device.address)}</strong>{' '}
                <small className="hint">
                  {words[device.state]} · {device.isVouched ? 'verified by the account' : 'not verified'} · known since{' '}
                  {fullTimeOf(new Date(device.since).toISOString())}
                </small>
              </span>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

const words: Record<DirectDevice['state'], string> = {
  trusted: 'reads messages',
  waiting: 'waits to be accepted',
  changed: 'has another key than before',
  forged: 'not theirs',
  'left out': 'left out',
}
