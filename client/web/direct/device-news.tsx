import type { DirectDevice, DirectState } from '#client/sdk/types'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import styles from './device-news.module.css'
import { useTitle } from './people.ts'

const shownMilliseconds = 3 * 24 * 60 * 60 * 1000

/** The lines of a conversation about devices that are new, or not what they were. */
export function DeviceNews({ direct }: { direct: DirectState }) {
  const { live } = useOpenRoom()
  const titleOf = useTitle()
  const news = direct.devices.filter(
    ({ isNew, since, state }) =>
      asks(state) || (isNew && state === 'trusted' && Date.now() - since < shownMilliseconds),
  )
  if (direct.state === 'unavailable')
    return (
      <p className="banner" role="status">
        <Icon name="warn" />
        <span>{direct.why}</span>
      </p>
    )
  if (news.length === 0) return null
  return (
    <section className={styles.deviceNews} aria-label="Devices">
      {news.map(({ address, deviceId, state }) => (
        <p key={deviceId} className="banner" role="status">
          <Icon name={asks(state) ? 'warn' : 'device'} />
          <span>{textOf(state, titleOf(address))}</span>
        </p>
      ))}
      {news.some(({ state }) => asks(state)) && (
        <div className="row end">
          <span className="hint grow">Nothing is sent until then. Compare the safety number if you are not sure.</span>
          <ActButton className="button small" onPress={() => live.acceptDevices()}>
            Go on with these devices
          </ActButton>
        </div>
      )}
    </section>
  )
}

const asks = (state: DirectDevice['state']) => state === 'waiting' || state === 'changed' || state === 'forged'

function textOf(state: DirectDevice['state'], who: string): string {
  if (state === 'forged')
    return `A device that claims to belong to ${who} is not theirs: its certificate is wrong. It is left out.`
  if (state === 'changed') return `A device of ${who} has another key than before. Somebody may stand between you.`
  if (state === 'waiting') return `${who} signed in on a new device, which is not verified.`
  return `${who} signed in on a new device.`
}
