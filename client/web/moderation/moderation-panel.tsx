import { lazy } from 'react'
import type { RoomState } from '#client/sdk/types'
import { useSession } from '../accounts/session.ts'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Blank, Skeleton } from '../kit/notice.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { turnDeskTo, useDesk } from '../rooms/route.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { LogTab } from './log-tab.tsx'
import { QueueTab } from './queue-tab.tsx'
import { RestrictedTab } from './restricted-tab.tsx'
import { Switches } from './switches.tsx'
import { useModeration } from './use-moderation.ts'

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
