// Modes: embedded
import { expect, test } from 'vitest'
import { boot } from '#test/support/boot'
import { person } from '#test/support/people'

test('where no files are kept, an upload is answered 503, and no file is found', async () => {
  const server = await boot({ services: { storage: null } })
  const { token, url } = await person(server, 'one')
  const body = new FormData()
  body.set('conversationId', 'a')
  body.set('file', new Blob([new Uint8Array(100)]))
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/api/upload/image`, { method: 'POST', headers, body })
  expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' })])
  expect((await fetch(`${url}/files/chat-images/encrypted/a/b.enc`)).status).toBe(404)
  expect(await (await fetch(`${url}/api/status`)).json()).toMatchObject({ media: null })
  await server.close()
})
