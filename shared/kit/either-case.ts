import type { z } from 'zod'
import { AppError } from '../errors.ts'

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''
type Snaked<Shape> = { [Name in keyof Shape as Snake<Name & string>]: Shape[Name] }

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Optional fields that may be written in camelCase or in snake_case. */
export const eitherCase = <Shape extends Record<string, z.ZodOptional>>(shape: Shape): Shape & Snaked<Shape> => ({
  ...shape,
  ...(Object.fromEntries(Object.entries(shape).map(([name, type]) => [snakeCase(name), type])) as Snaked<Shape>),
})

/** The given fields by their names in camelCase. Refuses two values for one field. */
export function inCamelCase<Shape extends Record<string, z.ZodOptional>>(
  shape: Shape,
  given: Readonly<Record<string, unknown>>,
): z.output<z.ZodObject<Shape>> {
  const read = Object.keys(shape).flatMap((name) => {
    const [camel, snake] = [given[name], given[snakeCase(name)]]
    const isBoth = camel !== undefined && snake !== undefined
    if (isBoth && JSON.stringify(camel) !== JSON.stringify(snake))
      throw new AppError('VALIDATION_ERROR', { message: `${name}: is not the same as ${snakeCase(name)}` })
    const value = camel === undefined ? snake : camel
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(read)
}

/** The same fields under their names in snake_case. */
export const inSnakeCase = <Fields extends object>(fields: Fields): Snaked<Fields> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value])) as Snaked<Fields>
