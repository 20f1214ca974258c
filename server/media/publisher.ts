import type { Ingest } from './live.ts'

/** Events of a publisher over any protocol. */
export interface Publisher extends Pick<Ingest, 'configure' | 'video' | 'audio'> {
  /** `isMeant`: the publisher announced the stop; otherwise it may come back. */
  end(isMeant: boolean): void
}
