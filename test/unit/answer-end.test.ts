import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { onAnswerEnd } from '#server/kernel/http/deadline'

test('O45: however many wait for the end of an answer, it has one listener of theirs', async () => {
  let answer: ServerResponse | undefined
  let over = 0
  let listeners = 0
  const server = createServer((request, response) => {
    answer = response
    const before = response.listenerCount('close')
    for (let at = 0; at < 20; at++) onAnswerEnd(request, response, () => over++)
    listeners = response.listenerCount('close') - before
    response.end()
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await (await fetch(`http://127.0.0.1:${port}`)).text()
  await expect.poll(() => over).toBe(20)
  expect(listeners).toBe(1)
  expect(answer?.listenerCount('close')).toBeLessThan(3)
})
