import { lazy, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { LiveRoom, LocalMessage, RoomState } from '#client/sdk/types'
import type { PanelName } from '#shared/kit/pages'
import { roomKey } from '#shared/kit/room-key'
import { sealedBy } from '#shared/kit/room-kinds'
import { useSession } from '../accounts/session.ts'
import { useKnowsBlocked } from '../accounts/use-blocked.ts'
import { CaughtUp } from '../connection/caught-up.tsx'
import { DeviceNews } from '../direct/device-news.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Skeleton } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { Composer, type ComposerHandle } from '../messages/composer.tsx'
import { useDeletions } from '../messages/deletions.tsx'
import { PickEmoji } from '../messages/pick-emoji.tsx'
import { Timeline, type TimelineHandle } from '../messages/timeline.tsx'
import { TypingLine } from '../messages/typing-line.tsx'
import { ActDialog } from '../moderation/act-dialog.tsx'
import { useAct } from '../moderation/acts.ts'
import { type AskedAct, isDeletion, type RowAct } from '../moderation/row-acts.ts'
import { ModerationContext, useLoadedModeration } from '../moderation/use-moderation.ts'
import { messageTexts } from '../texts/messages.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { TourHint } from '../tour/tour-hint.tsx'
import { NamesakesContext, useNamesakesIn } from './namesakes.ts'
import { usePanelParts } from './panel-parts.ts'
import { PinsBar } from './pins-bar.tsx'
import { rightsOf } from './rights.ts'
import { type OpenRoom, RoomContext } from './room-context.ts'
import { RoomHeader } from './room-header.tsx'
import { RoomPanel } from './room-panel.tsx'
import { closeDialog, useMessageAt, useRoomSettingsPart } from './route.ts'
import { RulesCard } from './rules-card.tsx'

const RoomSettings = lazy(async () => ({ default: (await import('../room-settings/room-settings.tsx')).RoomSettings }))

export function OpenRoomView(props: {
  live: LiveRoom
  state: RoomState
  panel: PanelName | null
  onReopen: () => void
}) {
  const { live, state, panel, onReopen } = props
  const { account, user } = useSession()
  const ownName = nameOf(user.display_name ?? user.username, account)
  const rights = useMemo(() => rightsOf(state.me), [state.me])
  const sealed = sealedBy({ ...live.ref, messaging_type: state.room?.messaging_type })
  const knowsBlocked = useKnowsBlocked()
  const namesakes = useNamesakesIn(state)
  const composer = useRef<ComposerHandle>(null)
  const timeline = useRef<TimelineHandle>(null)
  const [marked, setMarked] = useState<{ id: string; at: number } | null>(null)

  const jumpTo = useCallback(
    (id: string, seq?: number) => {
      setMarked({ id, at: Date.now() })
      const isHere = live.state.messages.some((message) => message.id === id)
      if (!isHere && seq !== undefined) live.loadAround(seq).catch(() => {})
    },
    [live],
  )
  const isLive = state.status === 'live'
  const wanted = useMessageAt()
  const shownMessage = useRef<number | null>(null)
  useEffect(() => {
    // Once: whoever has read on stays there when the connection is back.
    if (!isLive || wanted === null || shownMessage.current === wanted) return
    shownMessage.current = wanted
    const show = () => {
      const found = live.state.messages.find(({ seq }) => seq === wanted)
      if (found) setMarked({ id: found.id, at: Date.now() })
      return found
    }
    if (!show()) live.loadAround(wanted).then(show, () => {})
  }, [isLive, live, wanted])
  const act = useAct()
  const [asked, setAsked] = useState<AskedAct | null>(null)
  const [reactedTo, setReactedTo] = useState<LocalMessage | null>(null)
  const attempt = useAttempt()
  const { remove } = useDeletions()
  const moderate = useCallback(
    (one: RowAct) => {
      if ('asks' in one) return setAsked(one)
      const { message_id } = one.act
      if (isDeletion(one) && message_id)
        remove({ id: message_id, room: roomKey(live.ref), name: one.of, send: () => act(one.act, one.done) })
      else void act(one.act, one.done, one.undo)
    },
    [act, remove, live],
  )
  const parts = usePanelParts(state, rights, sealed !== null)
  const moderation = useLoadedModeration(live.ref, parts.includes('moderation'))
  const settings = useRoomSettingsPart()
  const isModerating = panel === 'moderation' && rights.isModerator
  const open = useMemo<OpenRoom>(
    () => ({
      live,
      account,
      ownName,
      rights,
      sealed,
      isSealed: sealed !== null,
      isModerating,
      reply: (message: LocalMessage) => composer.current?.reply(message),
      edit: (message: LocalMessage) => composer.current?.edit(message),
      react: setReactedTo,
      rewrite: (message: LocalMessage, text: string) => {
        live.discard(message.client_msg_id)
        composer.current?.rewrite(text)
      },
      moderate,
      jumpTo,
      reopen: onReopen,
    }),
    [live, account, ownName, rights, sealed, isModerating, moderate, jumpTo, onReopen],
  )

  return (
    <RoomContext value={open}>
      <ModerationContext value={moderation}>
        <NamesakesContext value={namesakes}>
          <main className="room" aria-label={isolated(state.room?.name ?? t.room)} data-status={state.status}>
            <RoomHeader state={state} panel={panel} parts={parts} />
            <PinsBar pins={knowsBlocked ? state.pins : []} />
            <TourHint state={state} />
            <CaughtUp status={state.status} caughtUp={state.caughtUp} />
            {/* The first messages are rendered together with the bars above them, so that the layout does not shift. */}
            {knowsBlocked || state.error ? (
              <Timeline
                key={state.messages.length > 0 ? 'lines' : 'none'}
                ref={timeline}
                state={state}
                marked={marked}
                onReopen={onReopen}
              />
            ) : (
              <div className="timeline-frame">
                <Skeleton rows={9} label={messageTexts.loading} />
              </div>
            )}
            <TypingLine typing={state.typing} />
            <RulesCard state={state} />
            {state.direct && <DeviceNews direct={state.direct} />}
            <Composer ref={composer} state={state} onSent={() => timeline.current?.toNewest()} />
          </main>
          {asked && <ActDialog asked={asked} live={live} onClose={() => setAsked(null)} />}
          {reactedTo && (
            <PickEmoji
              onPick={(emoji) => {
                setReactedTo(null)
                attempt(() => live.react(reactedTo.id, emoji, true))
              }}
              onClose={() => setReactedTo(null)}
            />
          )}
          {panel && <RoomPanel state={state} panel={panel} parts={parts} />}
          <LazyBoundary>
            {settings && <RoomSettings state={state} part={settings} onClose={closeDialog} />}
          </LazyBoundary>
        </NamesakesContext>
      </ModerationContext>
    </RoomContext>
  )
}
