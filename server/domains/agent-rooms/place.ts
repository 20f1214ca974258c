import { inRoom } from '#server/domains/runs/history'
import type { StoredRun } from '#server/domains/runs/model'

type Asked = Pick<StoredRun, 'place' | 'client_run_id'>

/** Of a run that was asked for in a room: the key of that, the message that asks, and how often the question was begun. */
export function asksIn({ place, client_run_id }: Asked): { key: string; messageId: string; attempt: number } {
  const [messageId = '', , attempt = '1'] = client_run_id.split(':')
  return { key: place.slice(inRoom('').length), messageId, attempt: Number(attempt) }
}
