import { z } from 'zod'
import { type AgentsConfig, agentsOf, agentsVariables } from './config/agents.ts'
import { type ChainsConfig, chainsOf, chainsVariables, isRpcUrl } from './config/chains.ts'
import { type FilesConfig, filesOf, filesVariables } from './config/files.ts'
import { type MeetingsConfig, meetingsOf, meetingsVariables } from './config/meetings.ts'
import { type OtherSitesConfig, otherSitesOf, otherSitesVariables } from './config/other-sites.ts'
import { type OutgoingConfig, outgoingOf, outgoingVariables } from './config/outgoing.ts'
import { retentionOf, retentionVariables } from './config/retention.ts'
import { type Deployment, deploymentOf, type ServerConfig, serverOf, serverVariables } from './config/server.ts'
import { type SignInConfig, signInOf, signInVariables } from './config/sign-in.ts'
import { type VideoConfig, videoOf, videoVariables } from './config/video.ts'
import { domains } from './domains/index.ts'
import { environmentValues, storeVariables } from './environment.ts'
import type { Retention } from './kernel/context.ts'
import { ConfigError, checkedSettings, type DomainSettings } from './kernel/settings.ts'

/** Each is declared in the file of its subject, or by the domain that alone reads it; none here. */
const variables = z.object({
  ...storeVariables.shape,
  ...serverVariables.shape,
  ...filesVariables.shape,
  ...signInVariables.shape,
  ...chainsVariables.shape,
  ...otherSitesVariables.shape,
  ...outgoingVariables.shape,
  ...agentsVariables.shape,
  ...meetingsVariables.shape,
  ...videoVariables.shape,
  ...retentionVariables.shape,
})

const settingsOfDomains = domains.flatMap(({ settings }) => settings ?? [])

export const variableNames = [...Object.keys(variables.shape), ...settingsOfDomains.flatMap(({ names }) => names)]

const isVariable = (name: string) => variableNames.includes(name) || isRpcUrl(name)

export interface Config
  extends ServerConfig,
    FilesConfig,
    SignInConfig,
    ChainsConfig,
    OtherSitesConfig,
    OutgoingConfig,
    AgentsConfig,
    MeetingsConfig {
  retention: Retention
  /** Null where nobody can go live. */
  video: VideoConfig | null
  /** What each domain made of its own variables. */
  domains: ReadonlyMap<DomainSettings, object>
}

/** Throws a `ConfigError` where a value makes no sense. */
export function readConfig(environment?: NodeJS.ProcessEnv): Config {
  const values = environmentValues(isVariable, environment)
  const env = checkedSettings(variables, values)
  const deployment = deploymentOf(env)
  const { production, publicUrl } = deployment
  refusePowers(env, deployment)
  return {
    ...serverOf(env, deployment),
    ...filesOf(env, publicUrl),
    ...signInOf(env),
    ...chainsOf(env, values, deployment),
    ...otherSitesOf(env),
    ...outgoingOf(env, deployment),
    ...agentsOf(env, production),
    ...meetingsOf(env),
    ...retentionOf(env),
    video: videoOf(env, publicUrl),
    domains: new Map(settingsOfDomains.map((settings) => [settings, settings.read(values, deployment)])),
  }
}

/** Development powers are for this very machine, whatever else is said. */
function refusePowers(env: z.output<typeof variables>, { production, reach }: Deployment): void {
  const powers = { DEMO: 'on', MAIL_URL: 'captured', SMS_URL: 'captured', X402_FACILITATOR_URL: 'simulated' } as const
  const [asked] = Object.entries(powers).flatMap(([name, on]) =>
    env[name as keyof typeof powers] === on ? [`${name}=${on}`] : [],
  )
  if (production && env.DEMO === 'on') throw new ConfigError('DEMO=on is not for production: it lets anybody moderate.')
  if (asked && reach)
    throw new ConfigError(`${asked} is for this machine alone, but ${reach} lets others in: leave out one of them.`)
}
