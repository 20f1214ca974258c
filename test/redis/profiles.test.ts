import { afterAll, beforeAll, expect, test } from 'vitest'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { accounts } from '#shared/api/people/accounts'
import { type Booted, boot } from '#test/support/boot'
import { person } from '#test/support/people'
import { type OwnRedis, ownRedis } from './own-redis.ts'

let redis: OwnRedis
let server: Booted
beforeAll(async () => {
  redis = await ownRedis()
  server = await boot({ environment: { REDIS_URL: redis.url } })
})
afterAll(async () => {
  await server.close()
  await redis.kill()
})

test('a changed name is shown by every node within a second, though each caches names for 30 s', async () => {
  const { account, does } = await person(server, 'renamed')
  const names = () =>
    Promise.all(server.apps.map(async ({ node }) => (await profilesOf(node, [account])).get(account)?.name))
  expect(new Set(await names()).size).toBe(1)
  await does('rest', accounts.updateProfile, { display_name: 'New name' })
  await expect.poll(names, { timeout: 1_000 }).toEqual(server.apps.map(() => 'New name'))
})
