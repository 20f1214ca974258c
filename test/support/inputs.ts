import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { objectsIn } from '#server/kernel/invoke'
import type { Operation } from '#shared/kit/contract'
import { conversationIdOf } from '#shared/kit/room-key'

type Input = Record<string, unknown>
interface Example {
  input: Input
}
const examples = JSON.parse(readFileSync('docs/examples.json', 'utf8')) as Record<string, Example>

/** Where the example asks for what nobody has who begins. */
const plainer: Readonly<Record<string, Example>> = {
  'agents.create': { input: { name: 'An agent', visibility: 'public' } },
  'knowledge.add': { input: { id: '019cad01-', url: 'https://site.test/the-page' } },
  'scheduling.configure': { input: { scheduling_enabled: true, scheduling_free_enabled: true } },
  'rooms.createChannel': { input: { name: 'A channel' } },
  'moderation.act': {
    input: { room: { type: 'channel', id: '' }, action: 'mute', target: `0x${'01'.repeat(20)}`, duration: '1h' },
  },
}

/** The example of an operation, by the id that the documents give it; null where it has none. */
export const exampleOf = (id: string, name: string): Input | null =>
  (plainer[name] ?? examples[id] ?? examples[name])?.input ?? null

/** What `plain` of the documents has put in the place of an id or a secret, and of an address. */
const isMadeUp = (text: string) => /^019cad\d\d-|^B?(.)\1{9,}|^(01){8,}/.test(text)
const isAddress = (text: string) => /^0x(\d\d)\1{19}$/.test(text)
const isOfTwo = (text: string) => /0x(\d\d)\1{19}[~-]0x/.test(text)
/** What an operation answers and its neighbours take. */
const passed = ['code', 'slug', 'token']
/** What makes a call wait or go on in the middle, and what names something that is not there. */
const left = ['wait', 'cursor', 'before', 'after', 'position', 'replyToId', 'reply_to', 'mediaUrls', 'isClosed']
/** So late is what examples have planned. */
const aheadMilliseconds = 172_800_000
/** What another may not have as well. */
const unique = ['name', 'title', 'label', 'word', 'username']

const singular = (noun: string) => noun.replace(/s$/, '')

/** Inputs of the calls of one account, with the ids that it was answered before. */
export function inputsOf(own: { account: string; other: string; conversation: { id: string }; fields: Input }) {
  const known = new Map<string, string>()
  const idOf = (noun: string) => own.fields[`${noun}Id`] ?? known.get(`${noun}Id`)

  function note(domain: string, value: unknown, noun = ''): void {
    const [first] = [value].flat() as unknown[]
    if (typeof first !== 'object' || first === null) return
    for (const [field, inner] of Object.entries(first)) {
      if (typeof inner !== 'string') note(domain, inner, singular(field))
      else if (field === 'id') known.set(`${noun || singular(domain)}Id`, inner).set(`${domain} id`, inner)
      else known.set(`${domain} ${field === 'joinCode' ? 'code' : field}`, inner)
    }
  }

  interface Place {
    domain: string
    route: string
    /** The fields that name who calls. */
    callers: readonly string[]
  }

  /** Finds the named object: by the word before it in the path, as in `/agents/:id`, its name, or the domain. */
  function find({ domain, route }: Place, field: string): unknown {
    const noun = singular(new RegExp(`([\\w-]+)/:${field}\\b`).exec(route)?.[1] ?? '')
    const named = field === 'id' ? '' : field.replace(/_?id$/i, '')
    return own.fields[field] ?? idOf(noun) ?? idOf(named) ?? known.get(`${domain} ${field}`)
  }

  function filled(at: Place, field: string, value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => filled(at, field, one))
    if (typeof value === 'object' && value !== null) {
      if (Object.keys(value).join() === 'type,id') return 'id' in value && value.id === null ? value : own.fields.room
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(at, name, inner)]))
    }
    if (typeof value !== 'string') return value
    if (isAddress(value)) return at.callers.includes(field) ? own.account : own.other
    if (isOfTwo(value)) return value.includes('/') ? conversationIdOf(own.conversation) : own.conversation.id
    if (passed.includes(field)) return known.get(`${at.domain} ${field}`) ?? value
    if (field === 'scheduledAt') return new Date(Date.now() + aheadMilliseconds).toISOString()
    return isMadeUp(value) ? (find(at, field) ?? value) : value
  }

  let calls = 0
  return {
    note,
    /** The example, as this account may ask for it. */
    of(name: string, operation: Operation, example: Input): Input {
      const callers = objectsIn(operation.input).flatMap(({ shape }) =>
        Object.entries(shape).flatMap(([field, type]) => ((type as z.ZodType).meta()?.['names-caller'] ? [field] : [])),
      )
      const { http, aliases = [], idempotency } = operation
      const at = { domain: name.split('.')[0] ?? '', route: http ?? aliases[0]?.http ?? '', callers }
      const asked = Object.entries(example).filter(([field]) => !left.includes(field))
      const input = Object.fromEntries(asked.map(([field, value]) => [field, filled(at, field, value)]))
      calls += 1
      for (const field of unique) if (typeof input[field] === 'string') input[field] += `${calls}`
      if (idempotency && idempotency.key in input) input[idempotency.key] = `key-${calls}`
      return input
    },
  }
}
export type Inputs = ReturnType<typeof inputsOf>
