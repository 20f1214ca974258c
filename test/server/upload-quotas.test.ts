// Modes: embedded
import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { UploadQuotas } from '#server/domains/files/model'
import { type Booted, boot } from '#test/support/boot'
import { type Person, person } from '#test/support/people'

const megabyte = 1024 * 1024
let server: Booted
afterEach(() => server.close())

const upload = async ({ token, url }: Person, bytes = megabyte - 1_000) => {
  const body = new FormData()
  body.set('conversationId', 'a')
  body.set('file', new File([randomBytes(bytes)], 'x'))
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/api/upload/image`, { method: 'POST', headers, body })
  const { code = '', retryAfter = 0 } = (await answer.json()) as { code?: string; retryAfter?: number }
  return { outcome: `${answer.status} ${code}`.trim(), retryAfter }
}
const outcomes = async (who: Person, times: number) => {
  const all = []
  for (let at = 0; at < times; at++) all.push((await upload(who)).outcome)
  return all
}

test('T23: an account that is younger than a day may upload less', async () => {
  server = await boot({ environment: { STORAGE_RESERVE_MB: '0', UPLOAD_QUOTA_MB: '3', UPLOAD_QUOTA_NEW_MB: '1' } })
  const young = await person(server, 'young')
  expect(await outcomes(young, 2)).toEqual(['200', '429 RATE_LIMIT_EXCEEDED'])
  server.setAhead(86_400)
  const older = await person(server, 'young')
  expect(await outcomes(older, 4)).toEqual(['200', '200', '200', '429 RATE_LIMIT_EXCEEDED'])
})

test('T23: from one address all accounts together may upload so much, and what is refused counts for nobody', async () => {
  server = await boot({ environment: { STORAGE_RESERVE_MB: '0', UPLOAD_QUOTA_ADDRESS_MB: '2' } })
  const [one, two, three] = [await person(server, 'one'), await person(server, 'two'), await person(server, 'three')]
  expect([...(await outcomes(one, 1)), ...(await outcomes(two, 1))]).toEqual(['200', '200'])
  const { outcome, retryAfter } = await upload(three)
  expect([outcome, retryAfter > 0]).toEqual(['429 RATE_LIMIT_EXCEEDED', true])
  const rows = await UploadQuotas.find({}).lean()
  expect(rows.filter(({ _id }) => _id.startsWith(three.account)).map(({ bytes }) => bytes)).toEqual([0])
  server.setAhead(86_400)
  expect(await outcomes(await person(server, 'three'), 1)).toEqual(['200'])
})

test('T23: an upload that would leave less than the reserve of the disk is refused, and counts for nobody', async () => {
  server = await boot({ environment: { STORAGE_RESERVE_MB: '1000000000' } })
  expect(await outcomes(await person(server, 'late'), 1)).toEqual(['503 SERVICE_UNAVAILABLE'])
  expect((await UploadQuotas.find({}).lean()).map(({ bytes }) => bytes)).toEqual([0, 0])
})
