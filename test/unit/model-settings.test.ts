import { expect, test } from 'vitest'
import { readConfig } from '#server/config'

const keys = `test:${Buffer.alloc(32).toString('base64')}`
const production = { NODE_ENV: 'production', SESSION_KEYS: keys }

test('without a key a script answers for agents, but in production only where it is asked for', () => {
  expect(readConfig({}).model).toBe('scripted')
  expect(readConfig({ HOST: '0.0.0.0' }).model).toBe('scripted')
  expect(readConfig(production).model).toBeNull()
  expect(readConfig({ ...production, MODEL_API_KEY: 'scripted' }).model).toBe('scripted')
})

test('a key asks the model of a server', () => {
  const search = { MODEL_WEB_SEARCH: '{"web_search_options":{}}' }
  expect(
    readConfig({ ...production, ...search, MODEL_API_KEY: 'k', MODEL_BASE_URL: 'http://localhost:1/v1' }).model,
  ).toEqual({
    apiKey: 'k',
    baseUrl: 'http://localhost:1/v1',
    model: 'gpt-4.1-mini',
    webSearch: { web_search_options: {} },
  })
  expect(() => readConfig({ MODEL_WEB_SEARCH: 'yes' })).toThrow(/MODEL_WEB_SEARCH/)
})

test('vectors are made by the server whose model is named, and it needs a key', () => {
  expect(readConfig({ MODEL_API_KEY: 'k' }).embedding).toBeNull()
  expect(readConfig({ MODEL_API_KEY: 'k', EMBEDDING_MODEL: 'e' }).embedding).toMatchObject({
    model: 'e',
    dimensions: 1_536,
  })
  for (const key of [{}, { MODEL_API_KEY: 'scripted' }])
    expect(() => readConfig({ ...key, EMBEDDING_MODEL: 'e' })).toThrow(/MODEL_API_KEY/)
})
