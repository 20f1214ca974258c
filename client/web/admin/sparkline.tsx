import styles from './sparkline.module.css'

const width = 72
const height = 20

/** A line chart of a figure, the newest value at the right; without a label, as the value is shown beside it. */
export function Sparkline({ values, slots }: { values: readonly number[]; slots: number }) {
  const most = Math.max(1, ...values)
  const step = width / (slots - 1)
  const from = width - (values.length - 1) * step
  const points = values.map((value, at) => `${from + at * step},${height - 1 - (value / most) * (height - 2)}`)
  return (
    <svg className={styles.sparkline} viewBox={`0 0 ${width} ${height}`} aria-hidden="true" focusable="false">
      <line x1="0" x2={width} y1={height - 1} y2={height - 1} />
      <polyline points={points.join(' ')} />
    </svg>
  )
}
