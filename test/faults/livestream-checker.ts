import type { StreamState } from '#shared/api/streams/stream-records'

type Reason = StreamState['reason']
export type Standing = Pick<StreamState, 'v' | 'status' | 'reason' | 'started_at'>

/** What may follow what, as `server/domains/streams/streams/states.ts` says it. */
const following: Record<Reason, readonly Reason[]> = {
  waiting: ['waiting', 'live', 'no_picture', 'ended_by_owner', 'ended_by_moderator', 'never_published'],
  live: ['interrupted', 'publisher_stopped', 'ended_by_owner', 'ended_by_moderator'],
  interrupted: ['live', 'connection_lost', 'ended_by_owner', 'ended_by_moderator'],
  no_picture: ['live', 'ended_by_owner', 'ended_by_moderator', 'never_published'],
  ended_by_owner: [],
  ended_by_moderator: [],
  publisher_stopped: [],
  connection_lost: [],
  never_published: [],
}

/** The events of one stream to all its watchers, in any order: each `v` says one thing, and they are a path of the table. */
export function checkStates(told: readonly Standing[]): string[] {
  const faults: string[] = []
  const byVersion = new Map<number, Standing>()
  for (const standing of told) {
    const known = byVersion.get(standing.v)
    byVersion.set(standing.v, known ?? standing)
    if (known && textOf(known) !== textOf(standing))
      faults.push(`v ${standing.v} is ${textOf(known)} and ${textOf(standing)}`)
  }
  const path = [...byVersion.values()].sort((one, other) => one.v - other.v)
  for (const [at, standing] of path.entries()) {
    const before = path[at - 1]
    if (!before) continue
    if (!mayFollow(before, standing))
      faults.push(`v ${before.v} ${before.reason} is followed by v ${standing.v} ${standing.reason}`)
    if (isPublished(before) && before.started_at !== standing.started_at)
      faults.push(`v ${standing.v} began at ${standing.started_at}, and at ${before.started_at} before`)
  }
  return faults
}

/** In as many steps as there are versions between them. */
function mayFollow(before: Standing, after: Standing): boolean {
  let reached: ReadonlySet<Reason> = new Set([before.reason])
  for (let v = before.v; v < after.v; v++) reached = new Set([...reached].flatMap((reason) => following[reason]))
  return reached.has(after.reason)
}

const isPublished = ({ reason }: Standing) => reason === 'live' || reason === 'interrupted'
const textOf = ({ status, reason, started_at }: Standing) => `${status} ${reason} since ${started_at}`

/** Of messages that were acknowledged, those that are not in the log once. */
export function checkChat(acknowledged: readonly string[], stored: readonly (string | null)[]): string[] {
  return acknowledged.flatMap((key) => {
    const times = stored.filter((one) => one === key).length
    return times === 1 ? [] : [`the message ${key} is stored ${times} times`]
  })
}
