import { lazy, useEffect, useRef } from 'react'
import type { RoomState } from '#client/sdk/types'
import { type RulesPatch, slowModeSeconds } from '#shared/api/moderation/verdict'
import { roomKey } from '#shared/kit/room-key'
import { useNames } from '../accounts/names.ts'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated, lengthOf } from '../kit/format.ts'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Blank, Listed, Skeleton } from '../kit/notice.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { kindOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { turnDeskTo, useDesk } from '../rooms/route.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { chatOf, useAct } from './acts.ts'
import { LogTab } from './log-tab.tsx'
import { QueueTab } from './queue-tab.tsx'
import styles from './switches.module.css'
import { useModeration } from './use-moderation.ts'

interface Restriction {
  id: string
  person: string
  kind: 'banned' | 'muted'
  until: string | null
  reason: string | null
}

/** The people who are banned or muted in this room, each with a button that lifts it; `version` changes with each act. */
function RestrictedTab({ version }: { version: string }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const act = useAct()
  const people = useLoaded<readonly Restriction[]>(roomKey(live.ref), async () => {
    const { chatType, chatId } = chatOf(live.ref)
    const [bans, mutes] = await Promise.all([
      client.moderation.bans({ chatType, chatId }),
      client.moderation.inspect({ action: 'muted', chatType, channelId: chatId }),
    ])
    const banned = 'bans' in bans ? bans.bans : []
    const muted = 'mutedUsers' in mutes ? mutes.mutedUsers : []
    return [
      ...banned.map((ban) => restriction('banned', ban, ban.banned_until)),
      ...muted.map((mute) => restriction('muted', mute, mute.muted_until)),
    ]
  })
  const { reload } = people
  const loadedAt = useRef(version)
  useEffect(() => {
    if (loadedAt.current === version) return
    loadedAt.current = version
    reload()
  }, [reload, version])
  const nameFor = useNames(people.value?.map(({ person }) => person) ?? [])
  const lift = async ({ kind, person }: Restriction) => {
    const action = kind === 'banned' ? 'unban' : 'unmute'
    const done = t.done[action]({ name: nameFor(person) })
    await act({ room: live.ref, action, target: person }, done)
    reload()
  }

  return (
    <Listed loaded={people} empty={<Blank icon="check" title={t.restricted.empty} />}>
      {(rows) => (
        <ul className="quiet-list" aria-label={t.restricted.list}>
          {rows.map((row) => (
            <li key={row.id} className="row">
              <span className="grow">
                <strong title={row.person}>{nameFor(row.person)}</strong>
                <small>{stateText(row)}</small>
              </span>
              <ActButton className="button small" onPress={() => lift(row)}>
                {row.kind === 'banned' ? t.actions.unban : t.actions.unmute}
              </ActButton>
            </li>
          ))}
        </ul>
      )}
    </Listed>
  )
}

function stateText({ kind, until, reason }: Restriction): string {
  const state = until ? t.restrictedUntil[kind]({ time: fullTimeOf(until) }) : t.restrictedForever[kind]
  return reason ? t.restricted.withReason({ state, reason: isolated(reason) }) : state
}

const restriction = (
  kind: Restriction['kind'],
  { id, user_address, reason }: { id: string; user_address: string; reason: string | null },
  until: string | null,
): Restriction => ({ id, person: user_address, kind, until, reason })

const BugList = lazy(async () => ({ default: (await import('../support/bug-list.tsx')).BugList }))

export function ModerationPanel({ state }: { state: RoomState }) {
  const { rights } = useOpenRoom()
  if (!rights.isModerator) {
    return (
      <Blank icon="shield" title={t.panel.forbidden}>
        <p>{t.panel.forbiddenHint}</p>
      </Blank>
    )
  }
  return <Desk state={state} />
}

function Desk({ state }: { state: RoomState }) {
  const { live } = useOpenRoom()
  const tab = useDesk()
  const { queue, elsewhere, log, waiting } = useModeration()
  const isAdmin = useSession().user.role !== 'user'
  return (
    <>
      <Switches state={state} />
      <Tabs
        label={t.panel.title}
        chosen={tab}
        onChoose={(name) => turnDeskTo(live.ref, name)}
        tabs={[
          { name: 'log', title: t.panel.log },
          { name: 'queue', title: waiting ? t.panel.queueCount({ count: waiting }) : t.panel.queue },
          { name: 'restricted', title: t.panel.restricted },
          ...(isAdmin ? [{ name: 'faults' as const, title: t.panel.problems }] : []),
        ]}
      />
      <div className="panel-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'queue' && <QueueTab queue={queue} elsewhere={elsewhere} />}
        {tab === 'log' && <LogTab log={log} state={state} />}
        {tab === 'restricted' && <RestrictedTab version={log.value?.[0]?.id ?? ''} />}
        {tab === 'faults' && isAdmin && (
          <LazyBoundary waiting={<Skeleton />}>
            <BugList />
          </LazyBoundary>
        )}
      </div>
    </>
  )
}

/** Switches for the rules that moderators change most often in an emergency. */
function Switches({ state }: { state: RoomState }) {
  const { live } = useOpenRoom()
  const act = useAct()
  const { rules } = state
  const set = (patch: Partial<RulesPatch>, done: string) =>
    act({ room: live.ref, action: 'rules', patch: { rules: patch } }, done)
  const areLinksOn = rules.links_allowed === 'everyone'

  return (
    <fieldset className={styles.switches} aria-label={t.switches.title}>
      <label className={styles.switch}>
        <span>{t.switches.slowMode}</span>
        <select
          className="input"
          value={rules.slow_mode_seconds}
          onChange={(event) => {
            const seconds = slowModeSeconds.find((choice) => choice === Number(event.target.value)) ?? 0
            set(
              { slow_mode_seconds: seconds },
              seconds ? t.switches.slowModeOn({ time: lengthOf(seconds) }) : t.switches.slowModeOff,
            )
          }}
        >
          {slowModeSeconds.map((seconds) => (
            <option key={seconds} value={seconds}>
              {seconds === 0 ? t.switches.off : lengthOf(seconds)}
            </option>
          ))}
        </select>
      </label>
      <Toggle
        title={t.switches.readOnly}
        isOn={rules.read_only}
        isFixed={kindOf(live.ref).writers === 'moderators'}
        onToggle={() =>
          set({ read_only: !rules.read_only }, rules.read_only ? t.switches.readOnlyOff : t.switches.readOnly)
        }
      />
      <Toggle
        title={t.switches.links}
        isOn={areLinksOn}
        onToggle={() =>
          set(
            { links_allowed: areLinksOn ? 'disabled' : 'everyone' },
            areLinksOn ? t.switches.linksOff : t.switches.linksOn,
          )
        }
      />
    </fieldset>
  )
}

function Toggle(props: { title: string; isOn: boolean; isFixed?: boolean; onToggle: () => void }) {
  const { title, isOn, isFixed = false, onToggle } = props
  return (
    <button
      type="button"
      className={styles.switch}
      role="switch"
      aria-checked={isOn}
      disabled={isFixed}
      onClick={onToggle}
    >
      <span>{title}</span>
      <i aria-hidden="true" />
    </button>
  )
}
