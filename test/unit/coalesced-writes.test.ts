import { expect, test } from 'vitest'
import { coalesceWrites } from '#server/kernel/sockets'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A connection that notes what reaches the network, and in how many pieces. */
function recorded() {
  const calls: string[] = []
  const waiting: string[] = []
  const socket = { cork: () => calls.push('cork'), uncork: () => calls.push('uncork') }
  const wire = { request: { socket }, flush: () => void calls.push(...waiting.splice(0)) }
  coalesceWrites(wire as never)
  const tell = (packet: string) => {
    waiting.push(packet)
    wire.flush()
  }
  return { calls, tell }
}

test('what one turn tells a connection leaves in one piece and in order, and so does what its answers tell', async () => {
  const { calls, tell } = recorded()
  tell('a')
  void Promise.resolve().then(() => tell('b'))
  tell('c')
  expect(calls).toEqual([])
  await turn()
  expect(calls).toEqual(['cork', 'a', 'c', 'b', 'uncork'])
})

test('what comes later leaves by itself', async () => {
  const { calls, tell } = recorded()
  tell('a')
  await turn()
  tell('b')
  await turn()
  expect(calls).toEqual(['cork', 'a', 'uncork', 'cork', 'b', 'uncork'])
})
