import type { Ingest } from './live.ts'

/** What is heard of who publishes, whichever way they do. */
export interface Publisher extends Pick<Ingest, 'configure' | 'video' | 'audio'> {
  /** `isMeant` where the publisher said that it stops; otherwise it may come back. */
  end(isMeant: boolean): void
}
