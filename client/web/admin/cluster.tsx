import { useCallback, useEffect, useState } from 'react'
import type { NodeFigures } from '#shared/api/platform/cluster'
import { useClient } from '../connection/client.ts'
import { fullTimeOf, lengthOf, listOf } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import type { Listing } from '../kit/use-loaded.ts'
import { adminTexts } from '../texts/admin.ts'
import styles from './cluster.module.css'
import { Sparkline } from './sparkline.tsx'

const everyMilliseconds = 3_000
const samplesKept = 40

/** The current figures of a node, and those of the last samples. */
interface SeenNode {
  now: NodeFigures
  before: readonly NodeFigures[]
}

/** The nodes, requested every few seconds while the page is visible. */
function useCluster(): Listing<readonly SeenNode[]> {
  const client = useClient()
  const [value, setValue] = useState<readonly SeenNode[] | null>(null)
  const [error, setError] = useState<unknown>(null)

  const ask = useCallback(async () => {
    try {
      const { nodes } = await client.cluster.nodes()
      setValue((seen) => nodes.map((now) => ({ now, before: [...pastOf(seen, now.id), now].slice(-samplesKept) })))
      setError(null)
    } catch (reason) {
      setError(reason)
    }
  }, [client])

  useEffect(() => {
    void ask()
    const timer = setInterval(() => {
      if (!document.hidden) void ask()
    }, everyMilliseconds)
    return () => clearInterval(timer)
  }, [ask])

  return { value, error, isLoading: value === null && !error, reload: () => void ask() }
}

const pastOf = (seen: readonly SeenNode[] | null, id: string): readonly NodeFigures[] =>
  seen?.find(({ now }) => now.id === id)?.before ?? []

const t = adminTexts.cluster
const slots = 40

interface Figure {
  title: string
  of: (node: NodeFigures) => number
  unit: string
  /** Values from this one on are highlighted. */
  high: number
}

const figures: readonly Figure[] = [
  { title: t.figures.connections, of: (node) => node.connections, unit: '', high: Number.POSITIVE_INFINITY },
  { title: t.figures.messages, of: (node) => node.messages_per_second, unit: '/s', high: Number.POSITIVE_INFINITY },
  { title: t.figures.delivery, of: (node) => node.lag_ms, unit: ' ms', high: 2_000 },
  { title: t.figures.timers, of: (node) => node.loop_lag_ms, unit: ' ms', high: 250 },
  { title: t.figures.memory, of: (node) => node.memory_mb, unit: ' MB', high: Number.POSITIVE_INFINITY },
]

/** The live figures of every node, for admins. */
export function Cluster() {
  const { value, error, reload } = useCluster()
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {value ? <Nodes nodes={value} /> : !error && <Skeleton rows={3} />}
    </>
  )
}

function Nodes({ nodes }: { nodes: readonly SeenNode[] }) {
  if (nodes.length === 0) {
    return (
      <Blank icon="poll" title={t.empty}>
        <p>{t.emptyHint}</p>
      </Blank>
    )
  }
  const live = nodes.filter(({ now }) => now.state === 'live')
  const connections = live.reduce((sum, { now }) => sum + now.connections, 0)
  return (
    <>
      <p className="hint">{t.nodes({ nodes: live.length, connections })}</p>
      <table className={styles.cluster}>
        <thead>
          <tr>
            <th scope="col">{t.node}</th>
            {figures.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nodes.map((seen) => (
            <NodeRow key={seen.now.id} seen={seen} />
          ))}
        </tbody>
      </table>
    </>
  )
}

function NodeRow({ seen: { now, before } }: { seen: SeenNode }) {
  const seconds = Math.max(1, Math.round((Date.parse(now.seen_at) - Date.parse(now.started_at)) / 1000))
  return (
    <tr className={now.state}>
      <th scope="row">
        <strong>{now.id}</strong>
        <small title={fullTimeOf(now.started_at)}>
          {now.host} · {now.process} · {now.version}
        </small>
        <small>
          {now.state === 'silent' ? t.silent({ time: fullTimeOf(now.seen_at) }) : t.up({ time: lengthOf(seconds) })}
          {` · ${t.rooms({ count: now.rooms })}`}
        </small>
        {now.degraded.length > 0 && <small className="away">{t.away({ services: listOf(now.degraded) })}</small>}
      </th>
      {figures.map(({ title, of, unit, high }) => (
        <td key={title} data-title={title} className={of(now) >= high ? 'high' : ''}>
          <span>
            {of(now)}
            {unit}
          </span>
          <Sparkline values={before.map(of)} slots={slots} />
        </td>
      ))}
    </tr>
  )
}
