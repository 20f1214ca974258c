import { lazy } from 'react'
import type { RoomState } from '#client/sdk/types'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Skeleton } from '../kit/notice.tsx'
import { MembersPanel } from './members-panel.tsx'
import { useOpenRoom } from './room-context.ts'
import { goTo, type PanelName } from './route.ts'
import { SearchPanel } from './search-panel.tsx'

const ModerationPanel = lazy(async () => ({
  default: (await import('../moderation/moderation-panel.tsx')).ModerationPanel,
}))

const titles = { members: 'Members', search: 'Search', moderation: 'Moderation' } as const

export function RoomPanel({ state, panel }: { state: RoomState; panel: PanelName }) {
  const { live } = useOpenRoom()
  const close = () => goTo(live.ref)
  return (
    <aside
      className="panel"
      aria-label={titles[panel]}
      onKeyDown={({ key }) => {
        if (key === 'Escape') close()
      }}
    >
      <header className="panel-head">
        <h2>{titles[panel]}</h2>
        <button
          type="button"
          className="icon-button"
          aria-label="Close this panel"
          title="Close this panel"
          onClick={close}
        >
          <Icon name="close" />
        </button>
      </header>
      {panel === 'members' && <MembersPanel state={state} />}
      {panel === 'search' && <SearchPanel />}
      {panel === 'moderation' && (
        <LazyBoundary waiting={<Skeleton />}>
          <ModerationPanel state={state} />
        </LazyBoundary>
      )}
    </aside>
  )
}
