import { expect, test } from 'vitest'
import { every, startInBackground } from '#server/kernel/work/every'

const logged: string[] = []
const node = {
  logger: { info() {}, error() {}, warn: (_fields: object, message: string) => void logged.push(message) },
}

test.each([
  ['once', (work: () => Promise<void>) => startInBackground(node, work, 'it failed')],
  ['again and again', (work: () => Promise<void>) => every(node, 60_000, work, 'it failed')],
])('O44: what is done beside all else, %s, says that it failed, unless it was stopped before', async (_how, begin) => {
  for (const isStopped of [true, false]) {
    logged.splice(0)
    let fail = (_error: Error) => {}
    const stop = begin(() => new Promise((_, reject) => (fail = reject)))
    if (isStopped) stop()
    fail(new Error('The store is closed'))
    await new Promise(setImmediate)
    expect(logged).toEqual(isStopped ? [] : ['it failed'])
    stop()
  }
})
