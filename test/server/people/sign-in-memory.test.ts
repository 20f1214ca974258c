// Modes: embedded
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { signIn } from '#test/support/wallet'

/** Four times what each was measured to leave, where few sign in. */
const bytesOfOne = 40_000

let server: Booted
beforeAll(async () => {
  server = await boot({ environment: { TRUSTED_PROXIES: '1' } })
})
afterAll(() => server.close())

let asked = 0
async function signInMany(count: number): Promise<void> {
  const one = async () => {
    const from = `10.1.${(asked >> 8) & 255}.${asked++ & 255}`
    await signIn(server.url, privateKeyToAccount(generatePrivateKey()), { 'X-Forwarded-For': from })
  }
  for (let left = count; left > 0; left -= 20) await Promise.all(Array.from({ length: 20 }, one))
}

/** Bytes that are still held once garbage is collected. */
function held(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  for (let again = 0; again < 3; again++) collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('N78: many who sign in, each from an address of their own, leave next to nothing in memory', {
  ...heavy,
  timeout: 600_000,
}, async () => {
  await signInMany(100)
  const before = held()
  await signInMany(200)
  const after = held()
  expect((after - before) / 200).toBeLessThan(bytesOfOne)
})
