import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { calendarCallback } from '#shared/api/meetings/calendar'
import { roomEventTypes } from '#shared/api/rooms/room-events'
import { operationList } from '../../scripts/documents.ts'
import { asyncapiText, openapiText } from './documents.ts'
import { filesUnder, textOf } from './sources.ts'

const both = { 'openapi.json': openapiText, 'asyncapi.json': asyncapiText }
const OpenApi = z.object({
  openapi: z.string().startsWith('3.1'),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(
      z.enum(['get', 'head', 'post', 'put', 'patch', 'delete']),
      z.object({
        operationId: z.string(),
        summary: z.string(),
        security: z.array(z.object()).min(1),
        parameters: z.array(
          z.object({ name: z.string(), in: z.enum(['path', 'query', 'header']), schema: z.object() }),
        ),
        responses: z.record(z.string().regex(/^\d{3}$/), z.object()),
      }),
    ),
  ),
})

describe('the documents', () => {
  test('docs/api/operations.txt is what the contract says; `npm run docs` writes it', () => {
    expect(textOf('docs/api/operations.txt')).toBe(operationList())
  })

  test.each(Object.entries(both))('every reference of %s leads somewhere', (_name, text) => {
    const document: unknown = JSON.parse(text)
    expect(referencesIn(document).filter((reference) => resolve(document, reference) === undefined)).toEqual([])
  })

  test('openapi.json is an OpenAPI 3.1 document', () => {
    const { paths } = OpenApi.parse(JSON.parse(openapiText))
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, ...operation })),
    )
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const templates = Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, '{}'))
    expect(new Set(templates).size).toBe(templates.length)
    for (const { path, parameters, responses } of operations) {
      const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`)
      expect(path.match(/\{\w+\}/g) ?? [], path).toEqual(declared)
      expect(new Set(declared).size, path).toBe(declared.length)
      expect(Object.keys(responses), path).toEqual(expect.arrayContaining(['400', '429', '500']))
      expect(
        Object.keys(responses).filter((status) => /^[23]/.test(status)),
        path,
      ).not.toEqual([])
    }
  })

  test('what is served beside the operations is there, too', () => {
    const { paths } = OpenApi.parse(JSON.parse(openapiText))
    const has = ['/files/{key}', '/webrtc/{key}', '/hls/{id}/index.m3u8', '/recordings/{id}.mp4', calendarCallback]
    expect(has.map((path) => Object.keys(paths[path] ?? {}))).toEqual([
      ['get'],
      ['head', 'post', 'delete'],
      ['get'],
      ['get'],
      ['get'],
    ])
  })

  test('N85: each operation has one canonical path; its other spellings are deprecated, but for another method of that path', () => {
    const { paths } = JSON.parse(openapiText)
    type Shown = { operationId: string; deprecated?: true; 'x-operation'?: string }
    const byPath = Object.values<Record<string, Shown>>(paths).map((methods) => Object.values(methods))
    const other = byPath.flatMap((all) => {
      const isHere = (name?: string) =>
        all.some((one) => one['x-operation'] === name && !one.operationId.includes('.alias'))
      return all.filter((one) => one.operationId.includes('.alias') && !isHere(one['x-operation']))
    })
    expect(other.length).toBeGreaterThan(50)
    const deprecated = byPath.flat().filter((one) => one.deprecated)
    expect(deprecated.map(({ operationId }) => operationId)).toEqual(other.map(({ operationId }) => operationId))
  })

  test('N85: each refusal declares the headers of its code and its shape, each deprecated path those of its successor', () => {
    const { paths, components } = JSON.parse(openapiText)
    for (const [name, { headers, content }] of Object.entries<Declared>(components.responses)) {
      const shape = content['application/json']?.schema.$ref.endsWith('/TextError') ? 'text' : 'coded'
      expect(headers['X-Error-Code'], name).toEqual({ $ref: '#/components/headers/X-Error-Code' })
      expect(headers['X-Error-Shape'], name).toEqual({ $ref: `#/components/headers/X-Error-Shape.${shape}` })
      expect(components.headers[`X-Error-Shape.${shape}`].schema).toEqual({ const: shape })
    }
    const all = Object.values<Record<string, { deprecated?: true; responses: Record<string, Declared> }>>(paths)
    for (const { deprecated = false, responses } of all.flatMap(Object.values))
      for (const name of ['Deprecation', 'Link']) expect(name in (responses[200]?.headers ?? {})).toBe(deprecated)
  })

  test('N80, N82: generated clients tell events of a room apart by their type, and know what a verdict is', () => {
    const { components } = JSON.parse(openapiText)
    const { RoomEvent, CodedError, TextError } = components.schemas
    const named = RoomEvent.oneOf.map(({ $ref }: { $ref?: string }) => $ref)
    expect(RoomEvent.anyOf).toBeUndefined()
    expect(Object.keys(RoomEvent.discriminator.mapping)).toEqual(Object.keys(roomEventTypes))
    expect(Object.values(RoomEvent.discriminator.mapping)).toEqual(named)
    for (const [type, ref] of Object.entries<string>(RoomEvent.discriminator.mapping))
      expect(components.schemas[ref.split('/').at(-1) ?? ''].properties.type.const).toBe(type)
    const verdict = { $ref: '#/components/schemas/Verdict' }
    expect([CodedError.properties.error, TextError].map(({ properties }) => properties.verdict)).toMatchObject([
      verdict,
      verdict,
    ])
  })

  test('N86: no path that follows a room stands beside its page: nobody who tries parameters is kept waiting', () => {
    const { paths } = JSON.parse(openapiText) as {
      paths: Record<string, { get?: { parameters: { name: string }[]; 'x-variants'?: unknown } }>
    }
    for (const path of ['/api/rooms/alpha/events', '/api/rooms/{type}/{room}/events']) {
      expect(paths[path]?.get?.parameters.map(({ name }) => name)).not.toContain('follow')
      expect(paths[path]?.get).not.toHaveProperty('x-variants')
      expect(paths[`${path}/stream`]?.get).toMatchObject({
        responses: { 200: { content: { 'text/event-stream': { schema: { $ref: expect.any(String) } } } } },
      })
    }
  })

  test('M19: they say which strings are times, addresses of pages and of e-mail', () => {
    const formats: [names: RegExp, format: string][] = [
      [/(_at|At|_until|Until)$/, 'date-time'],
      [/(^url|_url|Url)$/, 'uri'],
      [/^email$/, 'email'],
    ]
    const wrong: string[] = []
    const look = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      const { properties = {} } = schema as { properties?: Record<string, Described> }
      for (const [name, described] of Object.entries(properties))
        for (const { type, format } of described.anyOf ?? [described])
          if ([type].flat().includes('string') && formats.some(([names, said]) => names.test(name) && said !== format))
            wrong.push(name)
      Object.values(schema).map(look)
    }
    for (const text of Object.values(both)) look(JSON.parse(text))
    expect(wrong).toEqual([])
  })

  test('every promise and every threat that a test names is explained', () => {
    const explained = ['docs/promises.md', 'docs/security.md'].flatMap((path) =>
      idsIn(textOf(path), /^\| ([PT]\d+) \|/gm),
    )
    const tests = filesUnder('test').filter((path) => path.endsWith('.test.ts'))
    const named = new Set(tests.flatMap((path) => idsOfTitles(textOf(path))))
    expect([...named].filter((id) => /^[PT]/.test(id) && !explained.includes(id))).toEqual([])
    const kinds = new Set([...named].map((id) => id.replace(/\d+/, '..')))
    const rules = textOf('CONTRIBUTING.md')
    expect([...kinds].filter((kind) => !rules.includes(kind))).toEqual([])
  })

  test('ids are found in titles, however many begin one', () => {
    const titles = [
      "test('T36, T41: one', a)",
      'test.each(all)(`P3 P5: two of T01`, a)',
      "describe(\n'M08: three', a)",
      "each([['P8: it', 1]])",
    ]
    expect(idsOfTitles(titles.join('\n'))).toEqual(['T36', 'T41', 'P3', 'P5', 'M08', 'P8'])
    expect(idsOfTitles("open('R2D2')")).toEqual([])
  })
})

interface Declared {
  headers: Record<string, { $ref: string }>
  content: Record<string, { schema: { $ref: string } }>
}

interface Described {
  type?: string | string[]
  format?: string
  anyOf?: Described[]
}

/** The ids that titles of tests begin with. */
const idsOfTitles = (text: string) =>
  idsIn(text, /[([,]\s*['"`]((?:[A-Z]\d{1,2}\b,? ?)+):/g).flatMap((ids) => idsIn(ids, /([A-Z]\d+)/g))

const idsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, id = '']) => id)

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : []
  return [...own, ...Object.values(value).flatMap(referencesIn)]
}

function resolve(document: unknown, reference: string): unknown {
  const steps = reference.replace('#/', '').split('/')
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document)
}
