import { describe, expect, test } from 'vitest'
import { api } from '#shared/api/index'
import { canonicalOperations } from '#shared/kit/json-schema'
import { readExamples } from '../../scripts/documents.ts'
import { exampleMoment, fits, plain } from '../../scripts/examples/choose.ts'
import { openapiText } from './documents.ts'

const examples = readExamples()
const operations = canonicalOperations(api)
const shownOf = ({ id, name }: { id: string; name: string }) => examples[id] ?? examples[name]

describe('the examples; `npm run examples` chooses them', () => {
  test('N85: each operation with a path has one, and nothing else has', () => {
    expect(operations.filter((one) => !shownOf(one)).map(({ id }) => id)).toEqual([])
    const known = new Set(operations.flatMap(({ id, name }) => [id, name]))
    expect(Object.keys(examples).filter((id) => !known.has(id))).toEqual([])
  })

  test('N85: each passes the schemas of its operation', () => {
    const refused = operations.flatMap((canonical) => {
      const example = examples[canonical.id]
      if (!example || fits(canonical, example)) return []
      const asked = canonical.input.safeParse(example.input).error?.issues
      return [[canonical.id, asked ?? canonical.answer.safeParse(example.output).error?.issues]]
    })
    expect(refused).toEqual([])
  })

  test('N85: they hold nothing that somebody could use, and no place or time of the test that they were taken from', () => {
    const used = Object.keys(examples).filter(
      (id) => JSON.stringify(plain(examples[id], exampleMoment)) !== JSON.stringify(examples[id]),
    )
    expect(used).toEqual([])
  })

  test('N85: openapi.json shows each where it belongs: the answer, the body, the parameters; other spellings have none', () => {
    const { paths } = JSON.parse(openapiText) as { paths: Record<string, Record<string, Shown>> }
    const shown = Object.values(paths)
      .flatMap(Object.values<Shown>)
      .filter((one) => 'x-operation' in one)
    const has = (content: Content = {}) => Object.values(content).some(({ example }) => example !== undefined)
    const answered = shown.filter(({ responses }) => has(responses[200]?.content))
    expect(answered.map(({ operationId }) => operationId)).toEqual(
      shown.filter(({ deprecated }) => !deprecated).map(({ operationId }) => operationId),
    )
    const needy = answered.filter(
      ({ requestBody, parameters }) =>
        (requestBody?.required && requestBody.content['application/json'] && !has(requestBody.content)) ||
        parameters.some((one) => one.required && one.example === undefined),
    )
    expect(needy.map(({ operationId }) => operationId)).toEqual([])
  })
})

describe('what a test made up', () => {
  const at = Date.parse('2026-11-27T15:31:02.345Z')

  test('N85: keeps its form and its order, wherever it stands', () => {
    const [one, other] = [`0x${'B7'.repeat(20)}`, `0x${'a9'.repeat(20)}`]
    const given = {
      room: `${other.toLowerCase()}~${one.toLowerCase()}`,
      name: '0xb7b7…b7b7',
      ids: ['0195c2de-0000-7abc-8def-0123456789ab', '0195c2dd-0000-7abc-8def-0123456789ab'],
      at: '2026-11-27T15:31:00.100Z',
      until: Math.floor(at / 1_000) + 60,
      url: 'http://127.0.0.1:40123/invite/Wq3kZ0uQ5rTt7yUiOpAsDfGhJkLzXcVb',
      secret: 'm9fKq1Z2x3C4v5B6n7M8a9S0d1F2g3H4j5K6l7P8o9I=',
      word: 'chromium-headless-shell',
    }
    expect(plain(given, at)).toEqual({
      room: `0x${'01'.repeat(20)}~0x${'02'.repeat(20)}`,
      name: '0x0202…0202',
      ids: ['019cad02-9a80-7000-8000-000000000000', '019cad01-9a80-7000-8000-000000000000'],
      at: '2026-03-02T08:59:58.000Z',
      until: exampleMoment / 1_000 + 60,
      url: `https://chat.example.com/invite/${'A'.repeat(32)}`,
      secret: `${'Q'.repeat(43)}=`,
      word: 'chromium-headless-shell',
    })
    expect(plain(plain(given, at), exampleMoment)).toEqual(plain(given, at))
  })
})

type Content = Record<string, { example?: unknown }>
interface Shown {
  operationId: string
  deprecated?: true
  parameters: { required?: boolean; example?: unknown }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { content?: Content }>
}
