import { isIP } from 'node:net'
import { z } from 'zod'
import type { Settings } from './context.ts'

/** Stops the start with one plain sentence. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The values from which defaults follow. */
export interface Installation {
  production: boolean
  publicUrl: string
  /** The origins of this machine that may call; empty in production. */
  localOrigins: readonly string[]
}

/** The configuration of one domain, which it alone reads. */
export interface DomainSettings<Value extends object = object> {
  /** The names of its variables. */
  names: readonly string[]
  /** Throws a `ConfigError` for an invalid value. */
  read(given: object, installation: Installation): Value
  /** The settings with which this node was started. */
  of(node: { settings: Pick<Settings, 'domains'> }): Value
}

/** Each variable has a schema with a default, so none is required; `read` makes the domain's settings of them. */
export function defineSettings<Shape extends z.ZodRawShape, Value extends object>(
  variables: Shape,
  read: (given: z.output<z.ZodObject<Shape>>, installation: Installation) => Value,
): DomainSettings<Value> {
  const schema = z.object(variables)
  const settings: DomainSettings<Value> = {
    names: Object.keys(variables),
    read: (given, installation) => read(checkedSettings(schema, given), installation),
    of({ settings: { domains } }) {
      const value = domains.get(settings)
      if (!value) throw new Error(`No domain has the settings ${settings.names.join(', ')}`)
      return value as Value
    },
  }
  return settings
}

export function checkedSettings<Schema extends z.ZodType>(schema: Schema, given: object): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new ConfigError(`${issue?.path.join('.')} is not usable: ${issue?.message}.`)
}

/** A comma-separated list; empty by default, but not of empty entries. */
export const commaList = z
  .string()
  .default('')
  .refine((value) => value === '' || /[^\s,]/.test(value), { error: 'has nothing between its commas' })
  .transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  )

/** Decimal digits only: `0x10` and ` ` are numbers only to a program. */
export const decimalNumber = <Schema extends z.ZodNumber>(schema: Schema) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, { error: 'must be a number' })
    .transform(Number)
    .pipe(schema)

/** The address or name of a machine; digits and points alone must be an address. */
const isHost = (value: string): boolean =>
  isIP(value) !== 0 || (/^(?=.{1,253}$)[a-z\d]([\w-]|\.(?!\.))*(?<![-._])$/i.test(value) && !/^[\d.]+$/.test(value))
export const host = z.string().refine(isHost, { error: 'must be the name or the address of a machine' })

/** The same, with an optional port. */
export const hostAndPort = z
  .string()
  .refine((value) => isHost(value.replace(/:\d{1,5}$/, '')) && URL.canParse(`http://${value}`), {
    error: 'must be a host, such as chat.example.com or localhost:3000',
  })

/** Comma-separated hosts; `*.` before one includes all below it. */
export const hosts = commaList.refine((all) => all.every((each) => isHost(each.replace(/^\*\./, ''))), {
  error: 'must be hosts separated by commas, such as example.com,*.example.org',
})

/** An origin as browsers write it. */
export const isOrigin = (value: string): boolean => {
  if (!/^https?:/.test(value) || !URL.canParse(value)) return false
  return new URL(value).origin === value
}
export const origins = commaList.refine((all) => all.every(isOrigin), {
  error: 'must be origins separated by commas, such as https://example.com',
})

/** One complete URL, without parts that requests omit. */
function isUrl(value: string): boolean {
  if (!URL.canParse(value) || !/^[a-z]+:\/\/[^/]/i.test(value)) return false
  const { hostname, hash } = new URL(value)
  return hash === '' && isHost(hostname.replace(/^\[(.*)\]$/, '$1'))
}

/** A URL of these protocols, with a host. `what` completes the sentence of the error. */
export const urlOf = (protocol: RegExp, what: string) =>
  z.string().refine((value) => protocol.test(value) && isUrl(value), { error: what })

export const webUrl = urlOf(/^https?:/i, 'must be a URL that starts with http:// or https://')

/** A name or an id, without spaces. */
export const nameOrId = z.string().regex(/^[\w.:/+@-]+$/, { error: 'must be a name without spaces' })
