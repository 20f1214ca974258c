import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { objectsIn } from '#server/kernel/invoke'
import type { Operation } from '#shared/kit/contract'

type Input = Record<string, unknown>
export type Example = { input: Input; output: unknown }
export const examples = JSON.parse(readFileSync('docs/api/examples.json', 'utf8')) as Record<string, Example>

/** What `plain` of the documents has put in the place of an id or a secret. */
const isMadeUp = (text: string) => /^019cad\d\d-|^B?(.)\1{9,}|^(01){8,}/.test(text)
const isAddress = (text: string) => /^0x(\d\d)\1{19}$/.test(text)
/** What an operation answers and its neighbours take. */
const passed = ['code', 'slug', 'token']
/** What makes a call wait, or go on in the middle. */
const left = ['wait', 'cursor', 'before', 'after']
const varied = ['name', 'title', 'label', 'word', 'username', 'unique_name']

const singular = (domain: string) => domain.replace(/s$/, '')
const snake = (name: string) => name.replace(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)

/** What one account has been answered, by domain and field, for the inputs of what it calls next. */
export function inputsOf(own: { account: string; other: string; fields: Input }) {
  const known = new Map<string, string>()

  function note(domain: string, value: unknown, named = ''): void {
    if (Array.isArray(value)) return note(domain, value[0], named)
    if (typeof value !== 'object' || value === null) return
    for (const [field, inner] of Object.entries(value)) {
      if (typeof inner !== 'string') note(domain, inner, field.replace(/s$/, ''))
      else if (field !== 'id') known.set(`${domain} ${field}`, inner)
      else {
        const isThatOfTheDomain = named === singular(domain) || named === domain
        if (isThatOfTheDomain || !known.has(`${domain} id`)) known.set(`${domain} id`, inner)
        for (const name of [`${named}Id`, `${named}_id`]) known.set(`${domain} ${name}`, inner).set(name, inner)
      }
    }
  }

  const find = (domain: string, field: string) =>
    known.get(`${domain} ${field}`) ?? known.get(field) ?? known.get(snake(field)) ?? own.fields[field]

  function filled(domain: string, field: string, value: unknown, callers: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((one) => filled(domain, field, one, callers))
    if (typeof value === 'object' && value !== null) {
      if ('type' in value && 'id' in value && value.id !== null) return own.fields.room
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, filled(domain, name, inner, callers)]),
      )
    }
    if (typeof value !== 'string') return value
    if (isAddress(value)) return callers.includes(field) ? own.account : own.other
    return isMadeUp(value) || passed.includes(field) ? (find(domain, field) ?? value) : value
  }

  let calls = 0
  return {
    note,
    /** An input as the example has it, of what this account has. */
    of(name: string, operation: Operation, example: Input): Input {
      const [domain = ''] = name.split('.')
      const callers = objectsIn(operation.input).flatMap(({ shape }) =>
        Object.entries(shape).flatMap(([field, type]) => ((type as z.ZodType).meta()?.['names-caller'] ? [field] : [])),
      )
      const entries = Object.entries(example).filter(([field]) => !left.includes(field))
      const input = Object.fromEntries(
        entries.map(([field, value]) => [field, filled(domain, field, value, callers)]),
      )
      calls += 1
      for (const field of varied)
        if (typeof input[field] === 'string' && !isMadeUp(String(example[field])))
          input[field] = `${input[field]}${calls}`
      const key = operation.idempotency?.key
      if (key !== undefined && key in input) input[key] = `key-${calls}`
      return input
    },
  }
}
export type Inputs = ReturnType<typeof inputsOf>
