import type { ReactNode } from 'react'
import { isolated, nameOf } from '../kit/format.ts'
import { useLiveNow } from './use-stream.ts'

/** Who is live, as far as it fits into a line; `children` while nobody is. */
export function WhoIsLive({ children }: { children: ReactNode }) {
  const [first, ...others] = useLiveNow()?.streams ?? []
  if (!first) return children
  const { streamer, title } = first
  const name = nameOf(streamer.display_name, streamer.address)
  return others.length === 0 ? `${name}: ${isolated(title)}` : `${name} and ${others.length} more`
}
