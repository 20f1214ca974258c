import { isIP } from 'node:net'
import { z } from 'zod'
import type { Settings } from './context.ts'

/** Thrown with one plain sentence; the start stops with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The values from which defaults are derived. */
export interface Installation {
  production: boolean
  /** The public origin of the server. */
  publicUrl: string
  /** The origins of this machine that may call; none in production. */
  localOrigins: readonly string[]
}

/** The part of the configuration that one domain declares, and reads alone. */
export interface DomainSettings<Value extends object = object> {
  /** The names of its variables. */
  names: readonly string[]
  /** Throws a `ConfigError` where a value is not usable. */
  read(given: object, installation: Installation): Value
  /** As this node was started with. */
  of(node: { settings: Pick<Settings, 'domains'> }): Value
}

/** Each variable has a schema with a default, so that none is needed; `read` makes of them what the domain wants to know. */
export function defineSettings<Shape extends z.ZodRawShape, Value extends object>(
  variables: Shape,
  read: (given: z.output<z.ZodObject<Shape>>, installation: Installation) => Value,
): DomainSettings<Value> {
  const schema = z.object(variables)
  const settings: DomainSettings<Value> = {
    names: Object.keys(variables),
    read: (given, installation) => read(checked(schema, given), installation),
    of({ settings: { domains } }) {
      const value = domains.get(settings)
      if (!value) throw new Error(`No domain has the settings ${settings.names.join(', ')}`)
      return value as Value
    },
  }
  return settings
}

export function checked<Schema extends z.ZodType>(schema: Schema, given: object): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new ConfigError(`${issue?.path.join('.')} is not usable: ${issue?.message}.`)
}

/** Separated by commas; empty where nothing is given, but not where nothing stands between them. */
export const list = z
  .string()
  .default('')
  .refine((value) => value === '' || /[^\s,]/.test(value), { error: 'has nothing between its commas' })
  .transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  )

/** In digits, as `0x10` and ` ` are numbers only to a program. */
export const numeric = <Schema extends z.ZodNumber>(schema: Schema) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, { error: 'must be a number' })
    .transform(Number)
    .pipe(schema)

/** An address of a machine, or its name; digits and points alone are an address, or nothing. */
const isHost = (value: string): boolean =>
  isIP(value) !== 0 || (/^(?=.{1,253}$)[a-z\d]([\w-]|\.(?!\.))*(?<![-._])$/i.test(value) && !/^[\d.]+$/.test(value))
export const host = z.string().refine(isHost, { error: 'must be the name or the address of a machine' })

/** The same, with or without a port. */
export const hostAndPort = z
  .string()
  .refine((value) => isHost(value.replace(/:\d{1,5}$/, '')) && URL.canParse(`http://${value}`), {
    error: 'must be a host, such as chat.example.com or localhost:3000',
  })

/** Hosts, separated by commas; `*.` before one stands for all below it. */
export const hosts = list.refine((all) => all.every((each) => isHost(each.replace(/^\*\./, ''))), {
  error: 'must be hosts separated by commas, such as example.com,*.example.org',
})

/** In the form of browsers. */
export const isOrigin = (value: string): boolean => {
  if (!/^https?:/.test(value) || !URL.canParse(value)) return false
  return new URL(value).origin === value
}
export const origins = list.refine((all) => all.every(isOrigin), {
  error: 'must be origins separated by commas, such as https://example.com',
})

/** One URL, written in full, of which nothing is left out when it is asked. */
function isUrl(value: string): boolean {
  if (!URL.canParse(value) || !/^[a-z]+:\/\/[^/]/i.test(value)) return false
  const { hostname, hash } = new URL(value)
  return hash === '' && isHost(hostname.replace(/^\[(.*)\]$/, '$1'))
}

/** Of some protocols, with a host. `what` completes the sentence. */
export const urlOf = (protocol: RegExp, what: string) =>
  z.string().refine((value) => protocol.test(value) && isUrl(value), { error: what })

export const webUrl = urlOf(/^https?:/i, 'must be a URL that starts with http:// or https://')

/** What stands in no other form: a name or an id. */
export const word = z.string().regex(/^[\w.:/+@-]+$/, { error: 'must be a name without spaces' })
