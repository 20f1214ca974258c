import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { fetchText } from '#server/kernel/fetch'
import { heavy } from '#test/support/heavy'
import { reclaimMemory } from '#test/support/reclaim-memory'

let behave: (response: ServerResponse) => void = () => {}
const server = createServer((_request, response) => behave(response))
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const ask = (maxBytes = 100) =>
  fetchText(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {}, { timeoutMilliseconds: 1_000, maxBytes })

test('an answer is read with its status, decoded, up to its bound', async () => {
  behave = (response) => response.writeHead(201).end('für')
  expect(await ask()).toMatchObject({ status: 201, text: 'für' })
  behave = (response) => response.writeHead(204).end()
  expect(await ask()).toMatchObject({ status: 204, text: '' })
  behave = (response) => response.end('x'.repeat(101))
  await expect(ask()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
})

test('an answer that trickles is late, also where memory is reclaimed while it is read', heavy, async () => {
  const closed = new Promise<void>((resolve) => {
    behave = (response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.once('close', () => {
        clearInterval(timer)
        resolve()
      })
    }
  })
  onTestFinished(reclaimMemory())
  await expect(ask(100_000)).rejects.toMatchObject({ code: 'TIMEOUT' })
  await closed
})
