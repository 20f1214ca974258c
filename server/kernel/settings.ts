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

/** Separated by commas. */
export const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  )

export const webUrl = z.url({ protocol: /^https?$/ })
