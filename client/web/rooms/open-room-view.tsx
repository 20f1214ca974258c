import { lazy, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { DirectDevice, DirectState, LiveRoom, LocalMessage, RoomState, Typist } from '#client/sdk/types'
import type { Message } from '#shared/api/rooms/message'
import { isSameAccount } from '#shared/kit/accounts'
import type { PanelName } from '#shared/kit/pages'
import { deletedName } from '#shared/kit/person-name'
import { roomKey } from '#shared/kit/room-key'
import { sealedBy } from '#shared/kit/room-kinds'
import { useSession } from '../accounts/session.ts'
import { fromBlocked, useBlocked, useKnowsBlocked } from '../accounts/use-blocked.ts'
import styles from '../connection/connection.module.css'
import deviceNewsStyles from '../direct/device-news.module.css'
import { useTitle } from '../direct/people.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Skeleton } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { lineOf } from '../media/words.ts'
import { Composer, type ComposerHandle } from '../messages/composer.tsx'
import { useDeletions } from '../messages/deletions.tsx'
import messagesStyles from '../messages/messages.module.css'
import { PickEmoji } from '../messages/pick-emoji.tsx'
import { Timeline, type TimelineHandle } from '../messages/timeline.tsx'
import { ActForm } from '../moderation/act-form.tsx'
import { useAct } from '../moderation/acts.ts'
import { type AskedAct, isDeletion, personActs, type RowAct } from '../moderation/person-acts.ts'
import { ModerationContext, useLoadedModeration } from '../moderation/use-moderation.ts'
import { directTexts } from '../texts/direct.ts'
import { messageTexts } from '../texts/messages.ts'
import { moderationTexts } from '../texts/moderation.ts'
import { connectionTexts } from '../texts/pages.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { TourHint } from '../tour/tour-hint.tsx'
import { NamesakesContext, useNamesakesIn } from './namesakes.ts'
import pinsBarStyles from './pins-bar.module.css'
import { rightsOf } from './rights.ts'
import { type OpenRoom, RoomContext, useOpenRoom } from './room-context.ts'
import { RoomHeader } from './room-header.tsx'
import { RoomPanel, usePanelParts } from './room-panel.tsx'
import roomsStyles from './rooms.module.css'
import { closeDialog, goTo, useMessageAt, useRoomSettingsPart } from './route.ts'
import { RulesText, rulesTitle } from './rules-sheet.tsx'
import { useNewRules } from './seen-rules.ts'

const shownMilliseconds = 12_000

/** A notice after a reconnect: how many events were missed, and that all of them were loaded. */
function CaughtUp({ status, caughtUp }: Pick<RoomState, 'status' | 'caughtUp'>) {
  const [hiddenAt, setHiddenAt] = useState(0)
  const awayAt = useAwayAt(status)
  const at = caughtUp?.at ?? 0
  useEffect(() => {
    if (!at) return
    const timer = setTimeout(() => setHiddenAt(at), shownMilliseconds)
    return () => clearTimeout(timer)
  }, [at])

  if (
    !caughtUp ||
    awayAt === null ||
    caughtUp.at < awayAt ||
    caughtUp.at === hiddenAt ||
    (caughtUp.events === 0 && caughtUp.gaps === 0)
  )
    return null
  return (
    <p className={styles.caughtUp} role="status">
      <Icon name="check" />
      {connectionTexts.caughtUp({ events: caughtUp.events, gaps: caughtUp.gaps })}
    </p>
  )
}

/** When the connection was last lost after the room had been live; null if it never was. */
function useAwayAt(status: RoomState['status']): number | null {
  const [seen, setSeen] = useState<{ wasLive: boolean; awayAt: number | null }>({ wasLive: false, awayAt: null })
  if (status === 'live' && !seen.wasLive) setSeen({ ...seen, wasLive: true })
  if (status === 'offline' && seen.wasLive) setSeen({ wasLive: false, awayAt: Date.now() })
  return seen.awayAt
}

const deviceNewsShownMilliseconds = 3 * 24 * 60 * 60 * 1000

/** The lines of a conversation about devices that are new, or not what they were. */
function DeviceNews({ direct }: { direct: DirectState }) {
  const { live } = useOpenRoom()
  const titleOf = useTitle()
  const news = direct.devices.filter(
    ({ isNew, since, state }) =>
      asks(state) || (isNew && state === 'trusted' && Date.now() - since < deviceNewsShownMilliseconds),
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
    <section className={deviceNewsStyles.deviceNews} aria-label={directTexts.news.list}>
      {news.map(({ address, deviceId, state }) => (
        <p key={deviceId} className="banner" role="status">
          <Icon name={asks(state) ? 'warn' : 'device'} />
          <span>{textOf(state, titleOf(address))}</span>
        </p>
      ))}
      {news.some(({ state }) => asks(state)) && (
        <div className="row end">
          <span className="hint grow">{directTexts.news.hold}</span>
          <ActButton className="button small" onPress={() => live.acceptDevices()}>
            {directTexts.news.approve}
          </ActButton>
        </div>
      )}
    </section>
  )
}

const asks = (state: DirectDevice['state']) => state === 'waiting' || state === 'changed' || state === 'forged'

const textOf = (state: DirectDevice['state'], name: string): string =>
  directTexts.news[state === 'left out' ? 'trusted' : state]({ name })

const RoomSettings = lazy(async () => ({ default: (await import('../room-settings/room-settings.tsx')).RoomSettings }))

export function OpenRoomView(props: {
  live: LiveRoom
  state: RoomState
  panel: PanelName | null
  onReopen: () => void
}) {
  const { live, state, panel, onReopen } = props
  const { account, user } = useSession()
  const ownName = nameOf(user, account)
  const rights = useMemo(() => rightsOf(state.me), [state.me])
  const sealed = sealedBy({ ...live.ref, messaging_type: state.room?.messaging_type })
  const knowsBlocked = useKnowsBlocked()
  const namesakes = useNamesakesIn(state)
  useDeletedNames(state, account, onReopen)
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

/** Reads the names in a conversation anew, once, whose other person was deleted meanwhile. */
function useDeletedNames({ me, messages }: RoomState, account: string, onReopen: () => void) {
  const isDeleted = me.capabilities.text?.code === 'USER_NOT_FOUND'
  const isNamed = messages.some(
    ({ sender, sender_address }) => sender.name !== deletedName && !isSameAccount(sender_address, account),
  )
  const isReopened = useRef(false)
  useEffect(() => {
    if (!isDeleted || !isNamed || isReopened.current) return
    isReopened.current = true
    onReopen()
  }, [isDeleted, isNamed, onReopen])
}

/** The rules of a room, shown above the message field until the account has acknowledged them. */
function RulesCard({ state }: { state: RoomState }) {
  const { live, account, rights } = useOpenRoom()
  const [isShown, hide] = useNewRules(account, live.ref, state)
  if (!isShown || rights.isModerator) return null
  const title = rulesTitle(state.room?.name)
  return (
    <section className={roomsStyles.rulesCard} aria-label={title}>
      <header>
        <Icon name="book" />
        <strong className="grow">{title}</strong>
        <button type="button" className="button small main" onClick={hide}>
          {t.rules.accept}
        </button>
      </header>
      <div className={roomsStyles.rulesCardBody}>
        <RulesText rules={state.rules} isShort />
      </div>
    </section>
  )
}

/** The newest pin above the messages; the others are in the panel. */
function PinsBar({ pins }: { pins: readonly Message[] }) {
  const { live, jumpTo } = useOpenRoom()
  const blocked = useBlocked()
  const shown = pins.filter((pin) => !pin.is_deleted)
  const [pin] = shown
  if (!pin) return null
  return (
    <section className={roomsStyles.pins} aria-label={t.pins.title}>
      <button type="button" className={pinsBarStyles.pin} onClick={() => jumpTo(pin.id, pin.seq)}>
        <Icon name="pin" />
        <strong>{nameOf(pin.sender.name, pin.sender_address)}</strong>
        <span dir="auto">{blocked.has(pin.sender_address) ? fromBlocked : lineOf(pin.content, pin.message_type)}</span>
      </button>
      {shown.length > 1 && (
        <button type="button" className="button small plain" onClick={() => goTo(live.ref, 'pins')}>
          {t.pins.count({ count: shown.length })}
        </button>
      )}
    </section>
  )
}

/** Asks for what an act on the sender of a message wants to know. */
function ActDialog({ asked, live, onClose }: { asked: AskedAct; live: LiveRoom; onClose: () => void }) {
  const { asks, person } = asked
  return (
    <Dialog title={moderationTexts.actionOn({ action: personActs[asks].title, name: person.name })} onClose={onClose}>
      <div className="stack">
        <ActForm acts={[asks]} person={person} live={live} duration={asked.duration} onDone={onClose} />
      </div>
    </Dialog>
  )
}

function TypingLine({ typing }: { typing: readonly Typist[] }) {
  const { account } = useOpenRoom()
  const blocked = useBlocked()
  const names = typing
    .filter(({ id }) => !isSameAccount(id, account) && !blocked.has(id))
    .map(({ id, name }) => nameOf(name, id))
  return <p className={messagesStyles.typing}>{typingTextOf(names)}</p>
}

function typingTextOf([first, second, third, ...more]: readonly string[]): string {
  if (!first) return ''
  if (!second) return messageTexts.typing.one({ first })
  if (!third) return messageTexts.typing.two({ first, second })
  return more.length > 0 ? messageTexts.typing.many : messageTexts.typing.three({ first, second, third })
}
