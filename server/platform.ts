import type { Hints } from '#server/log/types'
import type { Config } from './config.ts'
import type { Services } from './kernel/context.ts'
import type { DevMailbox } from './kernel/dev-mailbox.ts'
import { createLogger, type Logger } from './kernel/operate/logger.ts'
import type { Metrics } from './kernel/operate/metrics.ts'
import { agentsParts, openAgents } from './platform/agents.ts'
import { chainsParts, openChains } from './platform/chains.ts'
import { nodeId, nodeParts, openCommons, openJobs } from './platform/commons.ts'
import { databasePart, openDatabase, orClosed } from './platform/database.ts'
import { filesParts, openFiles } from './platform/files.ts'
import { meetingsParts, openMeetings } from './platform/meetings.ts'
import { openOtherSites, otherSitesParts } from './platform/other-sites.ts'
import { openOutgoing, outgoingParts } from './platform/outgoing.ts'
import type { Part, PartsOf } from './platform/part.ts'
import { openSignIn, signInParts } from './platform/sign-in.ts'
import { openVideo, videoParts } from './platform/video.ts'
import { type Database, keepSessionKeys } from './ports/database/port.ts'
import type { Fanout } from './ports/fanout/port.ts'
import type { JobQueue } from './ports/jobs/port.ts'
import type { Kv } from './ports/kv/port.ts'
import type { Peers } from './ports/peers/port.ts'
import { keptSessionKeys, type SessionKeys } from './session-keys.ts'

/** The adapters of a server, one for each port. */
export interface Platform {
  node: string
  database: Database
  sessionKeys: SessionKeys
  kv: Kv
  peers: Peers
  hints: Hints
  fanout: Fanout
  jobs: JobQueue
  services: Services
  /** Unsent emails and text messages; null if all are sent, or none can be. */
  captured: DevMailbox | null
  logger: Logger
  metrics: Metrics
  /** The factor of all deadlines for the store and other nodes; higher on a busy test machine. */
  deadlineFactor: number
  /** What is real, what is a stand-in, and why. */
  parts: readonly Part[]
  close(): Promise<void>
}

/** The only place that picks adapters, by a file for each subject. Heavy adapters are loaded when picked. */
export async function openPlatform(config: Config): Promise<Platform> {
  const database = await openDatabase(config)
  return orClosed(database, () => openOn(database, config))
}

async function openOn(database: Database, config: Config): Promise<Platform> {
  const node = nodeId()
  const logger = createLogger(config.logLevel)
  const sessionKeys =
    config.sessionKeys ?? (await keptSessionKeys(config.dataDirectory, database.alone ? null : keepSessionKeys))
  const commons = await openCommons(config, { database, sessionKeys }, node, logger)
  const jobs = await openJobs(config, database)
  const outgoing = await openOutgoing(config, database)
  const agents = await openAgents(config, database)
  const livestreams = await openVideo(config, database, sessionKeys)
  return {
    ...commons,
    node,
    database,
    sessionKeys,
    jobs,
    captured: outgoing.captured,
    services: {
      ...openSignIn(config),
      ...openChains(config),
      ...openOtherSites(config),
      ...(await openFiles(config, database)),
      ...agents.services,
      ...outgoing.services,
      video: livestreams?.video ?? null,
      meetings: openMeetings(config, database, sessionKeys),
    },
    logger,
    deadlineFactor: 1,
    parts: [
      databasePart(config, database),
      ...commons.parts,
      ...nodeParts(config, database),
      ...Object.values(serviceParts).map((partOf) => partOf(config, livestreams)),
    ],
    async close() {
      await jobs.close()
      await outgoing.close()
      await agents.close()
      await livestreams?.close()
      await commons.close()
      await database.close()
    },
  }
}

/** The row of each service in the table of the start: a service without one does not compile. */
const serviceParts: PartsOf<keyof Services> = {
  ...signInParts,
  ...chainsParts,
  ...otherSitesParts,
  ...agentsParts,
  ...filesParts,
  ...videoParts,
  ...meetingsParts,
  ...outgoingParts,
}
