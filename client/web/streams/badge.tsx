import type { StreamState } from '#shared/api/streams/stream-records'
import { badgeOf } from './use-stream.ts'

export function Badge({ state }: { state: StreamState }) {
  const { text, look } = badgeOf(state)
  return <span className={`chip ${look}`}>{text}</span>
}
