import { expect, test } from 'vitest'
import { readConfig } from '#server/config'

const keys = `test:${Buffer.alloc(32).toString('base64')}`
const production = { NODE_ENV: 'production', SESSION_KEYS: keys }

test('without a key a script answers for agents, but in production only where it is asked for', () => {
  expect(readConfig({}).model).toBe('scripted')
  expect(readConfig({ HOST: '0.0.0.0' }).model).toBe('scripted')
  expect(readConfig(production).model).toBeNull()
  expect(readConfig({ ...production, MODEL: 'scripted' }).model).toBe('scripted')
  expect(readConfig({ ...production, MODEL: 'scripted', MODEL_API_KEY: 'k' }).model).toBe('scripted')
})

test('the script is asked for by its name alone', () => {
  for (const value of ['gpt-4.1-mini', 'Scripted', 'script'])
    expect(() => readConfig({ MODEL: value })).toThrow(/^MODEL is not usable: must be scripted, or left out.*\.$/)
  for (const more of [{}, production])
    expect(() => readConfig({ ...more, MODEL_API_KEY: 'scripted' })).toThrow(
      'MODEL_API_KEY is no key: MODEL=scripted asks for the script.',
    )
})

test('a key asks the model of a server', () => {
  const given = { ...production, MODEL_API_KEY: 'k', MODEL_BASE_URL: 'http://localhost:1/v1' }
  const asked = { api: 'chat', apiKey: 'k', baseUrl: 'http://localhost:1/v1', model: 'gpt-4.1-mini', others: [] }
  expect(readConfig(given).model).toEqual(asked)
  expect(readConfig({ ...given, MODEL_API: 'chat' }).model).toEqual(asked)
  expect(readConfig({ ...given, MODEL_API: 'responses' }).model).toEqual({ ...asked, api: 'responses' })
  const choices = { MODEL_CHOICES: 'gpt-4.1, gpt-4.1-mini,gpt-4.1' }
  expect(readConfig({ ...given, ...choices }).model).toEqual({ ...asked, others: ['gpt-4.1'] })
})

test.each(['Responses', 'completions', '1'])('an interface that there is not (%s) is refused at the start', (api) => {
  expect(() => readConfig({ MODEL_API: api })).toThrow('MODEL_API is not usable: must be chat or responses.')
})

test('vectors are made by the server whose model is named, and it needs a key', () => {
  expect(readConfig({ MODEL_API_KEY: 'k' }).embedding).toBeNull()
  expect(readConfig({ MODEL_API_KEY: 'k', EMBEDDING_MODEL: 'e' }).embedding).toMatchObject({
    model: 'e',
    dimensions: 1_536,
  })
  for (const key of [{}, { MODEL: 'scripted' }])
    expect(() => readConfig({ ...key, EMBEDDING_MODEL: 'e' })).toThrow(/MODEL_API_KEY/)
})
