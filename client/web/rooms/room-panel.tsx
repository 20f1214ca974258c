import { type FormEvent, lazy, useCallback, useMemo, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Message } from '#shared/api/rooms/message'
import { type PanelName, panels } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { useKey } from '../keys/use-key.ts'
import { useBorrowedFocus, useFocused } from '../kit/focus.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { hasMedia } from '../media/words.ts'
import { useAct } from '../moderation/acts.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { FoundMessage } from './found-message.tsx'
import { kindOf } from './kind.ts'
import { MembersPanel } from './members-panel.tsx'
import type { Rights } from './rights.ts'
import { useOpenRoom } from './room-context.ts'
import styles from './rooms.module.css'
import { goTo, turnTo } from './route.ts'

export const panelTitles: Readonly<Record<PanelName, string>> = t.parts

export const panelIcons: Readonly<Record<PanelName, IconName>> = {
  members: 'people',
  media: 'image',
  pins: 'pin',
  search: 'search',
  moderation: 'shield',
}

/** The parts of the panel that have something to show in this room, and that the account may see, in their order. */
export function usePanelParts(state: RoomState, rights: Rights, isSealed: boolean): readonly PanelName[] {
  const { ref, messages, pins } = state
  const kind = kindOf(ref)
  const hasAnyMedia = useMemo(() => messages.some(hasMedia), [messages])
  const has: Readonly<Record<PanelName, boolean>> = {
    members: kind.tells.counts,
    media: hasAnyMedia,
    pins: pins.some((pin) => !pin.is_deleted),
    search: !isSealed,
    moderation: rights.isModerator && kind.hasModerators,
  }
  return panels.filter((name) => has[name])
}

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

interface Found {
  query: string
  messages: readonly Message[]
  searched: number
  /** Where the next page begins; null after the last. */
  next: number | null
}

function SearchPanel() {
  const client = useClient()
  const field = useFocused<HTMLInputElement>()
  const { live } = useOpenRoom()
  const [words, setWords] = useState('')
  const [found, setFound] = useState<Found | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const look = async (query: string, before: Found | null) => {
    setBusy(true)
    setError(null)
    try {
      const before_seq = before?.next ?? undefined
      const more = await client.messages.search({ room: live.ref, query, before_seq })
      setFound({
        query,
        messages: [...(before?.messages ?? []), ...more.messages],
        searched: (before?.searched ?? 0) + more.searched,
        next: more.next_before_seq,
      })
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }

  const search = (event: FormEvent) => {
    event.preventDefault()
    setFound(null)
    void look(words.trim(), null)
  }

  return (
    <div className="panel-body">
      <form className="row" onSubmit={search}>
        <input
          dir="auto"
          ref={field}
          className="input"
          type="search"
          aria-label={t.search.field}
          placeholder={t.search.example}
          maxLength={200}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <button type="submit" className="button" disabled={!words.trim()}>
          {t.search.submit}
        </button>
      </form>
      <Problem error={error} />
      {isBusy && !found && <Skeleton />}
      {!found && !isBusy && !error && (
        <Blank icon="search" title={t.search.empty}>
          <p>{t.search.emptyHint}</p>
        </Blank>
      )}
      {found && !isBusy && found.next === null && found.messages.length === 0 && (
        <Blank icon="search" title={t.search.none}>
          <p>{t.search.searched({ count: found.searched })}</p>
        </Blank>
      )}
      <ol className={styles.found} aria-label={t.search.results}>
        {found?.messages.map((message) => (
          <li key={message.id}>
            <FoundMessage message={message} />
          </li>
        ))}
      </ol>
      {found && found.next !== null && (
        <button type="button" className="button" disabled={isBusy} onClick={() => look(found.query, found)}>
          {t.search.older}
        </button>
      )}
    </div>
  )
}

/** What is pinned in the room; a press leads to the message. */
function PinsPanel({ pins }: { pins: readonly Message[] }) {
  const { live, rights } = useOpenRoom()
  const act = useAct()
  const shown = pins.filter((pin) => !pin.is_deleted)
  return (
    <div className="panel-body">
      {shown.length === 0 && (
        <Blank icon="pin" title={t.pins.empty}>
          <p>{t.pins.emptyHint}</p>
        </Blank>
      )}
      <ol className={styles.found} aria-label={t.pins.title}>
        {shown.map((pin) => (
          <li key={pin.id} className="row">
            <FoundMessage message={pin} />
            {rights.canPin && (
              <button
                type="button"
                className="icon-button small"
                aria-label={t.pins.unpin}
                title={t.pins.unpin}
                onClick={() => void act({ room: live.ref, action: 'unpin', message_id: pin.id }, t.pins.unpinned)}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}
