import type { z } from 'zod'

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

/** What was given of such fields, under their names in camelCase; where both are given, that one holds. */
export function inCamelCase<Shape extends Record<string, z.ZodOptional>>(
  shape: Shape,
  given: Readonly<Record<string, unknown>>,
): z.output<z.ZodObject<Shape>> {
  const read = Object.keys(shape).flatMap((name) => {
    const value = given[name] === undefined ? given[snakeCase(name)] : given[name]
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(read)
}

/** The same fields under their names in snake_case. */
export const inSnakeCase = <Fields extends object>(fields: Fields): Snaked<Fields> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value])) as Snaked<Fields>
