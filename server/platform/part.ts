import type { Config } from '#server/config'
import type { Services } from '#server/kernel/context'
import type { OpenedVideo } from '#server/ports/video/open'

/** A row of the table at the start: a service, real or a stand-in, and why. */
export interface Part {
  part: string
  adapter: string
  why: string
}

/** The row of each of these services. */
export type PartsOf<Service extends keyof Services> = {
  readonly [Each in Service]: (config: Config, livestreams: OpenedVideo | null) => Part
}
