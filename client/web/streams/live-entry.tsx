import { lazy, type ReactNode, Suspense } from 'react'
import { Icon } from '../kit/icon.tsx'
import { linkToLive } from '../rooms/route.ts'

const invitation = 'Watch, or go live yourself'
/** Where it cannot be loaded, the way is there all the same. */
const WhoIsLive = lazy(async () => ({
  default: await import('./who-is-live.tsx').then(
    (part) => part.WhoIsLive,
    () => (props: { children: ReactNode }) => props.children,
  ),
}))

/** The way from the rooms to the livestreams, and who is live. */
export function LiveEntry({ isOpen }: { isOpen: boolean }) {
  return (
    <nav className="agents-entry" aria-label="Livestreams">
      <a className="room-row" href={linkToLive} aria-current={isOpen ? 'page' : undefined}>
        <span className="room-mark">
          <Icon name="play" />
        </span>
        <span className="grow">
          <span className="room-name">Live</span>
          <small className="room-last">
            <Suspense fallback={invitation}>
              <WhoIsLive>{invitation}</WhoIsLive>
            </Suspense>
          </small>
        </span>
      </a>
    </nav>
  )
}
