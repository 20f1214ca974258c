// Modes: embedded
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Booted, boot } from '#test/support/boot'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

const readiness = async () => {
  const answer = await fetch(`${server.opsUrl}/readyz`)
  return { status: answer.status, ...((await answer.json()) as object) }
}

test('N72: a full disk is named among what is degraded, and reading goes on', async () => {
  expect(await readiness()).toEqual({ status: 200, ok: true, reason: null, degraded: [] })
  vi.spyOn(fs, 'statfsSync').mockReturnValue({ bavail: 10, bsize: 4_096 } as fs.StatsFs)
  syncBuiltinESMExports()
  expect(await readiness()).toEqual({ status: 200, ok: true, reason: null, degraded: ['disk'] })
})
