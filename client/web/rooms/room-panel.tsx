import { lazy, useCallback } from 'react'
import type { RoomState } from '#client/sdk/types'
import { type PanelName, panels } from '#shared/kit/pages'
import { useKey } from '../keys/use-key.ts'
import { useBorrowedFocus } from '../kit/focus.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Skeleton } from '../kit/notice.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { roomTexts as t } from '../texts/rooms.ts'
import { MembersPanel } from './members-panel.tsx'
import { panelTitles } from './panel-parts.ts'
import { PinsPanel } from './pins-panel.tsx'
import { useOpenRoom } from './room-context.ts'
import styles from './rooms.module.css'
import { goTo, turnTo } from './route.ts'
import { SearchPanel } from './search-panel.tsx'

const ModerationPanel = lazy(async () => ({
  default: (await import('../moderation/moderation-panel.tsx')).ModerationPanel,
}))
const MediaPanel = lazy(async () => ({ default: (await import('../media/media-panel.tsx')).MediaPanel }))

/** The one panel beside a room. `parts` are those that the room has now; the open one is shown whatever it has. */
export function RoomPanel(props: { state: RoomState; panel: PanelName; parts: readonly PanelName[] }) {
  const { state, panel, parts } = props
  const { live } = useOpenRoom()
  const close = useCallback(() => goTo(live.ref), [live])
  useKey('closePanel', close)
  const aside = useBorrowedFocus<HTMLElement>(takeFocus)
  const shown = panels.filter((name) => name === panel || parts.includes(name))
  return (
    <aside ref={aside} className="panel" aria-label={panelTitles[panel]}>
      <header className="panel-head">
        <h2 className="unseen">{panelTitles[panel]}</h2>
        <Tabs
          label={t.panel.list}
          controls={panelId}
          tabs={shown.map((name) => ({ name, title: panelTitles[name] }))}
          chosen={panel}
          onChoose={(name) => turnTo(live.ref, name)}
        />
        <button type="button" className="icon-button" aria-label={t.panel.close} title={t.panel.close} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div className={styles.panelPart} role="tabpanel" id={panelId} aria-labelledby={`tab-${panel}`}>
        {panel === 'members' && <MembersPanel state={state} />}
        {panel === 'pins' && <PinsPanel pins={state.pins} />}
        {panel === 'search' && <SearchPanel />}
        <LazyBoundary waiting={<Skeleton />}>
          {panel === 'media' && <MediaPanel state={state} />}
          {panel === 'moderation' && <ModerationPanel state={state} />}
        </LazyBoundary>
      </div>
    </aside>
  )
}

const panelId = 'room-panel'

/** For the keyboard alone, and where no field of the panel takes the focus. */
function takeFocus(panel: HTMLElement) {
  if (!document.activeElement?.matches('button:focus-visible') || panel.querySelector('input[type=search]')) return
  panel.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus()
}
