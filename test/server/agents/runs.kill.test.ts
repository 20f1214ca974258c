import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { isTerminal, type RunFrame } from '#shared/api/agents/run-frames'
import type { Line } from '#test/support/line'
import { type Person, personAt } from '#test/support/people'
import { build } from '#test/support/programs'
import { freshDatabase, started } from '#test/support/started'

beforeAll(build)

const textOf = (frames: readonly RunFrame[]) =>
  frames.reduce((text, frame) => (frame.t === 'chunk' ? text.slice(0, frame.off) + frame.text : text), '')

/** The stored frames are those that were sent, up to the one end, which has the stored text. */
function expectWhole(told: readonly RunFrame[], kept: readonly RunFrame[]): void {
  const before = kept.slice(0, -1)
  expect(before.slice(0, told.length)).toEqual(told.slice(0, before.length))
  expect(kept.map(({ idx }) => idx)).toEqual(kept.map((_, at) => at))
  const end = { t: 'error', code: 'RUN_LOST', message: textOf(kept) }
  expect(kept.filter(isTerminal)).toMatchObject([end])
  expect(kept.at(-1)).toMatchObject(end)
}

/** A reader that got so many frames, perhaps more than are stored, gets the rest from its next idx up to the same end. */
async function expectEnd(reader: Person, run_id: string, told: readonly RunFrame[], kept: readonly RunFrame[]) {
  const after_idx = told.at(-1)?.idx ?? -1
  const { frames, state } = await reader.does('socket', agents.resume, { run_id, after_idx })
  expect(state).toBe('failed')
  expect(frames.map(({ idx }) => idx)).toEqual(frames.map((_, at) => after_idx + 1 + at))
  expect(frames.filter(isTerminal)).toEqual([{ ...kept.at(-1), idx: frames.at(-1)?.idx }])
}

describe('a server killed with -9 while it answers', () => {
  test.each([1, 4, 9])(
    'after %d chunks, tells the rest of nothing, and ends the answer at its next start',
    async (chunks) => {
      const directory = mkdtempSync(join(tmpdir(), 'plaza-runs-'))
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
      const first = await started({ DATA_DIR: directory })
      const { owner, agent, told, run_id } = await asking(first.url, chunks)
      first.process.kill('SIGKILL')
      await once(first.process, 'exit')

      const second = await started({ DATA_DIR: directory })
      onTestFinished(() => void second.process.kill('SIGKILL'))
      const again = await personAt(second.url, owner)
      const resume = () => again.does('socket', agents.resume, { run_id })
      await expect.poll(async () => (await resume()).state, { timeout: 10_000 }).toBe('failed')
      const { frames } = await resume()
      expectWhole(told, frames)
      await expectEnd(again, run_id, told, frames)
      const { chats } = await again.does('rest', agents.history, { id: agent })
      expect(chats).toMatchObject([
        { role: 'user' },
        { role: 'assistant', content: textOf(frames), error_code: 'RUN_LOST' },
      ])
      expect((await again.does('rest', agents.active, {})).runs).toEqual([])
      const { message_count } = (await again.does('rest', agents.get, { id: agent })).agent
      expect(message_count).toBe(0)
    },
  )

  test('has its answer ended by another node within 10 seconds', async () => {
    const environment = { MONGODB_URI: freshDatabase(), BETA: 'open', MODEL: 'scripted' }
    const [first, second] = [await started(environment), await started(environment)]
    onTestFinished(() => void second.process.kill('SIGKILL'))
    const { owner, told, run_id } = await asking(first.url, 3)
    const elsewhere = await personAt(second.url, owner)
    const line = await elsewhere.line('/agents')
    await elsewhere.does(line, agents.resume, { run_id, after_idx: -1 })
    const died = once(first.process, 'exit')
    first.process.kill('SIGKILL')
    await died
    const diedAt = performance.now()
    await line.hears(runFrame, (frame) => frame.run_id === run_id && isTerminal(frame))
    expect(performance.now() - diedAt).toBeLessThan(10_000)
    const { frames } = await elsewhere.does('socket', agents.resume, { run_id })
    expectWhole(told, frames)
    await expectEnd(elsewhere, run_id, told, frames)
  })
})

/** Asks something that is never answered to its end, and waits until some frames were sent. */
async function asking(url: string, chunks: number) {
  const owner = `owner ${crypto.randomUUID()}`
  const asker = await personAt(url, owner)
  const { agent } = await asker.does('rest', agents.create, { name: 'Endless' })
  const line: Line = await asker.line('/agents')
  const { run_id } = await asker.does('socket', agents.run, { agent_id: agent.id, message: '/endless' })
  const of = () => line.all(runFrame).filter((frame) => frame.run_id === run_id)
  await expect.poll(() => of().filter(({ t }) => t === 'chunk').length, { interval: 5 }).toBeGreaterThanOrEqual(chunks)
  return { owner, agent: agent.id, run_id, told: of() }
}
