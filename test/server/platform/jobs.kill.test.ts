import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { build } from '#test/support/programs'
import { portOf, smtpSink } from '#test/support/smtp'
import { started } from '#test/support/started'
import { call } from '#test/support/wallet'

beforeAll(build)

test('P18: a server killed with -9 while it sends a letter sends it within 30 seconds of its next start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-jobs-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const silent = createServer()
  const port = await portOf(silent)
  const environment = { DATA_DIR: directory, MAIL_URL: `smtp://127.0.0.1:${port}` }

  const first = await started(environment)
  const asked = once(silent, 'connection')
  expect((await call(first.url, 'POST /api/email/login/send-code', { email: 'kill@people.test' })).status).toBe(200)
  await asked
  first.process.kill('SIGKILL')
  await once(first.process, 'exit')
  silent.close()

  const sink = await smtpSink({ port })
  onTestFinished(sink.close)
  const begun = Date.now()
  const second = await started(environment)
  onTestFinished(() => void second.process.kill('SIGKILL'))
  await expect.poll(() => sink.letters.length, { timeout: 60_000, interval: 100 }).toBe(1)
  expect(Date.now() - begun).toBeLessThan(30_000)
})
