import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { refuseWarnings } from '#test/support/warnings'

test('O45: a warning of Node fails the test that caused it', async () => {
  await refuseWarnings()
  const emitter = new EventEmitter()
  for (let at = 0; at < 11; at++) emitter.on('end', () => undefined)
  await expect(refuseWarnings()).rejects.toThrow(/MaxListenersExceededWarning.*11 end listeners/)
  process.emitWarning('It goes', 'DeprecationWarning')
  process.emitWarning('It is new', 'ExperimentalWarning')
  await expect(refuseWarnings()).rejects.toThrow(/^DeprecationWarning: /)
  await refuseWarnings()
})
