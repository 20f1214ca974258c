import { expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { requestedWorkers } from '#server/workers'

const config = readConfig({ NODE_ENV: 'test', MONGODB_URI: 'mongodb://localhost', SESSION_KEYS: key() })

test('workers are asked for by a whole number, or not at all', () => {
  expect(requestedWorkers([], config)).toBeNull()
  expect(requestedWorkers(['--workers', '1'], config)).toBe(1)
  expect(requestedWorkers(['--workers=128'], config)).toBe(128)
})

test.each(['0', '129', '1.5', '-1', 'many', ''])('%j workers are refused with a sentence', (count) => {
  expect(() => requestedWorkers([`--workers=${count}`], config)).toThrow(
    '--workers is not usable: must be a whole number from 1 to 128.',
  )
})

function key(): string {
  return `test:${Buffer.alloc(32).toString('base64')}`
}
