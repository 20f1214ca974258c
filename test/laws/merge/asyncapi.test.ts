import schemas from '@asyncapi/specs'
import { Ajv, type SchemaObject } from 'ajv'
import { expect, test } from 'vitest'
import { asyncapiText } from '../documents.ts'

const document: unknown = JSON.parse(asyncapiText)

test('asyncapi.json is an AsyncAPI 3.0 document', () => {
  const isOne = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false }).compile(
    schemas.schemas['3.0.0'] as SchemaObject,
  )
  isOne(document)
  expect(isOne.errors ?? []).toEqual([])
})

test('each reference in asyncapi.json leads to a part of it', () => {
  const references = new Set(referencesIn(document))
  expect(references.size).toBeGreaterThan(100)
  expect([...references].filter((reference) => partAt(reference) === undefined)).toEqual([])
})

test('N87: each schema of asyncapi.json that generators make a type of has a title', () => {
  const { channels, components } = document as {
    channels: Record<string, { messages: Record<string, { payload: Schema }> }>
    components: { schemas: Record<string, Schema> }
  }
  const payloads = Object.values(channels).flatMap(({ messages }) =>
    Object.values(messages).map(({ payload }) => payload),
  )
  const all = [...payloads, ...Object.values(components.schemas)].flatMap(typesIn)
  expect(all.length).toBeGreaterThan(500)
  expect(all.filter(({ title }) => title === undefined)).toEqual([])
})

type Schema = { [keyword: string]: unknown }
/** A schema, and those within it, that are an object, a choice or one of several. */
function typesIn(schema: unknown): Schema[] {
  if (typeof schema !== 'object' || schema === null) return []
  const inner = Object.entries(schema).flatMap(([keyword, value]) =>
    keyword === 'enum' || keyword === 'const' || keyword === 'default' ? [] : typesIn(value),
  )
  const { type, properties, enum: choices, anyOf, oneOf } = schema as Schema
  const isType =
    type === 'object' ||
    typeof properties === 'object' ||
    Array.isArray(choices) ||
    Array.isArray(anyOf) ||
    Array.isArray(oneOf)
  return isType ? [schema as Schema, ...inner] : inner
}

function referencesIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
  )
}

/** What a JSON pointer of this document names. */
function partAt(reference: string): unknown {
  const names = reference
    .split('/')
    .slice(1)
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document)
}
