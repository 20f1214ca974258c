import { Icon } from '../kit/icon.tsx'
import { linkToLive } from '../rooms/route.ts'

/** The way from the rooms to the livestreams. */
export function LiveEntry({ isOpen }: { isOpen: boolean }) {
  return (
    <nav className="agents-entry" aria-label="Livestreams">
      <a className="room-row" href={linkToLive} aria-current={isOpen ? 'page' : undefined}>
        <span className="room-mark">
          <Icon name="play" />
        </span>
        <span className="grow">
          <span className="room-name">Live</span>
          <small className="room-last">Watch, or go live yourself</small>
        </span>
      </a>
    </nav>
  )
}
