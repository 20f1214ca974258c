import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError, checkedSettings, webUrl } from './kernel/settings.ts'

/** Of names and values; the process's own where none is given. Nothing else reads that. */
type Environment = NodeJS.ProcessEnv

/** What a tool beside the server reads, too. */
export const storeVariables = z.object({
  DATA_DIR: z.string().min(1).default('./data'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/[^/\s]+/, { error: 'must start with mongodb:// and name a host' })
    .optional(),
  S3_ENDPOINT: webUrl.optional(),
  MEDIA_DIR: z.string().min(1).optional(),
})

/** Where a node keeps its livestreams. */
export const mediaIn = ({ MEDIA_DIR, DATA_DIR }: { MEDIA_DIR?: string | undefined; DATA_DIR: string }): string =>
  MEDIA_DIR ?? join(DATA_DIR, 'media')

/** Where the store, the files and the recordings are; all that a tool beside the server reads. */
export function readStore(environment?: Environment) {
  const isAsked = (name: string) => Object.hasOwn(storeVariables.shape, name)
  const read = checkedSettings(storeVariables, environmentValues(isAsked, environment))
  const recordings = join(mediaIn(read), 'recordings')
  return { dataDirectory: read.DATA_DIR, mongodbUri: read.MONGODB_URI, s3Endpoint: read.S3_ENDPOINT, recordings }
}

/**
 * The values of the variables that are asked for, wherever they stand. An empty variable counts as absent; `X_FILE` names a file
 * that has the value of `X`.
 */
export function environmentValues(
  isAsked: (name: string) => boolean,
  environment: Environment = process.env,
): Environment {
  const direct = withoutEmpty(environment)
  const read = Object.entries(direct).flatMap(([name, path = '']) => {
    const target = name.replace(/_FILE$/, '')
    return target !== name && isAsked(target) ? [[target, textAt(name, path)] as const] : []
  })
  const values = Object.fromEntries(read)
  for (const [name, value] of Object.entries({ ...direct, ...values }))
    if (isAsked(name)) refuseUnreadable(name, value ?? '')
  const [twice] = read.find(([name]) => direct[name] !== undefined) ?? []
  if (twice) throw new ConfigError(`${twice} and ${twice}_FILE are both set: leave out one of them.`)
  return { ...direct, ...withoutEmpty(values) }
}

const withoutEmpty = (environment: Environment) =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))

/** Of several lines are a key set and a text. */
const severalLines = ['PARTNER_JWKS', 'WELCOME_MESSAGE']

function refuseUnreadable(name: string, value: string): void {
  if (value !== '' && value.trim() === '') throw new ConfigError(`${name} is not usable: it is blank.`)
  const signs = severalLines.includes(name) ? value.replace(/[\t\r\n]/g, '') : value
  if (/\p{Cc}/u.test(signs))
    throw new ConfigError(`${name} is not usable: it has line ends or other control characters.`)
}

/** Without the line ends and spaces around it. */
function textAt(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${name} is not usable: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}
