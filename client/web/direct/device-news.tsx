import type { DirectDevice, DirectState } from '#client/sdk/types'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { directTexts as t } from '../texts/direct.ts'
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
    <section className={styles.deviceNews} aria-label={t.news.list}>
      {news.map(({ address, deviceId, state }) => (
        <p key={deviceId} className="banner" role="status">
          <Icon name={asks(state) ? 'warn' : 'device'} />
          <span>{textOf(state, titleOf(address))}</span>
        </p>
      ))}
      {news.some(({ state }) => asks(state)) && (
        <div className="row end">
          <span className="hint grow">{t.news.hold}</span>
          <ActButton className="button small" onPress={() => live.acceptDevices()}>
            {t.news.approve}
          </ActButton>
        </div>
      )}
    </section>
  )
}

const asks = (state: DirectDevice['state']) => state === 'waiting' || state === 'changed' || state === 'forged'

const textOf = (state: DirectDevice['state'], name: string): string =>
  t.news[state === 'left out' ? 'trusted' : state]({ name })
