import type { NodeFigures } from '#shared/api/platform/cluster'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, lengthOf, plural } from '../kit/format.ts'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import styles from './cluster.module.css'
import { Sparkline } from './sparkline.tsx'
import { type SeenNode, useCluster } from './use-cluster.ts'

const slots = 40

interface Figure {
  title: string
  of: (node: NodeFigures) => number
  unit: string
  /** Values from this one on are highlighted. */
  high: number
}

const figures: readonly Figure[] = [
  { title: 'Connections', of: (node) => node.connections, unit: '', high: Number.POSITIVE_INFINITY },
  { title: 'Messages', of: (node) => node.messages_per_second, unit: '/s', high: Number.POSITIVE_INFINITY },
  { title: 'Delivery', of: (node) => node.lag_ms, unit: ' ms', high: 2_000 },
  { title: 'Timers late', of: (node) => node.loop_lag_ms, unit: ' ms', high: 250 },
  { title: 'Memory', of: (node) => node.memory_mb, unit: ' MB', high: Number.POSITIVE_INFINITY },
]

/** The live figures of every node, for admins. */
export function Cluster({ onClose }: { onClose: () => void }) {
  const { value, error, reload } = useCluster()
  return (
    <Dialog title="Cluster" isBroad onClose={onClose}>
      <Problem error={error} onRetry={reload} />
      {value ? <Nodes nodes={value} /> : !error && <Skeleton rows={3} label="Asking the nodes" />}
    </Dialog>
  )
}

function Nodes({ nodes }: { nodes: readonly SeenNode[] }) {
  if (nodes.length === 0) {
    return (
      <Blank icon="poll" title="No node has told of itself yet">
        <p>Each one does so every three seconds.</p>
      </Blank>
    )
  }
  const live = nodes.filter(({ now }) => now.state === 'live')
  const connections = live.reduce((sum, { now }) => sum + now.connections, 0)
  return (
    <>
      <p className="hint">
        {plural(live.length, 'node')} with {plural(connections, 'connection')}, asked anew every three seconds.
      </p>
      <table className={styles.cluster}>
        <thead>
          <tr>
            <th scope="col">Node</th>
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
          {now.state === 'silent' ? `silent since ${fullTimeOf(now.seen_at)}` : `up for ${lengthOf(seconds)}`}
          {`, ${plural(now.rooms, 'room')}`}
        </small>
        {now.degraded.length > 0 && <small className="away">away: {now.degraded.join(', ')}</small>}
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
