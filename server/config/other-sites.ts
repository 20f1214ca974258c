import { z } from 'zod'
import { ConfigError, nameOrId, webUrl } from '#server/kernel/settings'

/** What is kept at other sites: the issues of this installation, and calendars of people. */
export const otherSitesVariables = z.object({
  GITHUB_API_URL: webUrl.default('https://api.github.com'),
  GITHUB_TOKEN: nameOrId.optional(),
  GITHUB_REPOSITORY: z
    .string()
    .regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/, { error: 'must be owner/name' })
    .optional(),
  GOOGLE_CLIENT_ID: nameOrId.optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
})

type Given = z.output<typeof otherSitesVariables>

export interface OtherSitesConfig {
  /** Whose issues are those of this installation; null where it has none. */
  github: { apiUrl: string; repository: string; token: string } | null
  /** As which client calendars at Google are asked for; null where none can be connected. */
  google: { id: string; secret: string } | null
}

export const otherSitesOf = (env: Given): OtherSitesConfig => ({ github: githubOf(env), google: googleOf(env) })

function githubOf(env: Given): OtherSitesConfig['github'] {
  const { GITHUB_API_URL: apiUrl, GITHUB_REPOSITORY: repository, GITHUB_TOKEN: token } = env
  if (repository === undefined && token === undefined) return null
  if (repository === undefined || token === undefined)
    throw new ConfigError('GITHUB_TOKEN and GITHUB_REPOSITORY belong together.')
  return { apiUrl, repository, token }
}

function googleOf({ GOOGLE_CLIENT_ID: id, GOOGLE_CLIENT_SECRET: secret }: Given): OtherSitesConfig['google'] {
  if (id === undefined && secret === undefined) return null
  if (id === undefined || secret === undefined)
    throw new ConfigError('GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET belong together.')
  return { id, secret }
}
