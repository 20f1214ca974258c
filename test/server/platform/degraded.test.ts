// Modes: embedded
import fs from 'node:fs'
import disk from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { degradations } from '#server/kernel/operate/metrics'
import { serverNotice, sessionReady } from '#shared/kit/connection'
import { type Booted, boot } from '#test/support/boot'
import { person } from '#test/support/people'

let server: Booted
const logged: { part: string; message: string }[] = []
beforeAll(async () => {
  server = await boot({
    change: (platform) => ({
      ...platform,
      logger: {
        ...platform.logger,
        warn: (fields: { part?: string }, message) => void (fields.part && logged.push({ part: fields.part, message })),
      },
    }),
  })
})
afterAll(() => server.close())
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  server.setAhead(0)
})

const degraded = async () =>
  ((await (await fetch(`${server.opsUrl}/readyz`)).json()) as { degraded: string[] }).degraded
const measured = async () => {
  const text = await (await fetch(`${server.opsUrl}/metrics`)).text()
  return [...text.matchAll(/^plaza_degraded\{part="(\w+)"\} (\d)$/gm)].flatMap(([, part, isSo]) =>
    isSo === '1' ? [part] : [],
  )
}

const reasons: [string, () => void][] = [
  [
    'disk',
    () => {
      vi.spyOn(fs, 'statfsSync').mockReturnValue({ bavail: 10, bsize: 4_096 } as fs.StatsFs)
    },
  ],
  [
    'files',
    () => {
      vi.spyOn(disk, 'statfs').mockResolvedValue({ bavail: 100, bsize: 4_096 } as fs.StatsFs)
    },
  ],
  ['clock', () => server.setAhead(60)],
]

test('O40: at the reserve of the disk /readyz says what uploads say', async () => {
  const megabyte = 1_048_576
  const { token, url } = await person(server, 'sender')
  const upload = async () => {
    const body = new FormData()
    body.set('conversationId', 'a')
    body.set('file', new File([new Uint8Array(megabyte)], 'x'))
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${url}/api/upload/image`, { method: 'POST', headers, body })).status
  }
  const leave = (bytes: number) => {
    vi.spyOn(disk, 'statfs').mockResolvedValue({
      bavail: (1_024 * megabyte + bytes) / 4_096,
      bsize: 4_096,
    } as fs.StatsFs)
    syncBuiltinESMExports()
  }
  leave(megabyte / 2)
  expect(await degraded()).toEqual([])
  expect([await upload(), await degraded()]).toEqual([503, ['files']])
  leave(2 * megabyte)
  expect([await degraded(), await upload()]).toEqual([[], 200])
  leave(0)
  expect([await degraded(), await upload()]).toEqual([['files'], 503])
})

test.each(reasons)('O40: %s is named by /readyz, the metric, the log, and to who connects', async (reason, cause) => {
  expect([await degraded(), await measured()]).toEqual([[], []])
  logged.splice(0)
  const before = await (await person(server, 'before')).socket('/rooms')
  cause()
  syncBuiltinESMExports()
  expect(await degraded()).toEqual([reason])
  expect(await measured()).toEqual([reason])
  expect(logged.filter(({ part }) => part === reason)).toHaveLength(1)
  await before.hears(serverNotice, ({ kind, detail }) => kind === 'degraded' && detail === reason)
  const after = await (await person(server, 'after')).socket('/rooms')
  expect(await after.hears(sessionReady)).toMatchObject({ degraded: [reason] })
})

test('O40: all reasons have a test here, but that of Redis, which is in test/redis', () => {
  expect([...reasons.map(([reason]) => reason), 'redis'].sort()).toEqual(Object.keys(degradations).sort())
})
