import { expect, test } from 'vitest'
import type { AudioFrame } from '#server/media/tracks'
import { createAacEncoder } from '#server/media/whip'
import { heavy } from '#test/support/heavy'
import { silence } from './pictures.ts'

const opusSilence = Buffer.from('f8fffe', 'hex')

async function encoding() {
  const heard: AudioFrame[] = []
  const encoder = await createAacEncoder((frame) => heard.push(frame))
  const push = (time: number) => encoder.push({ time, duration: 960, data: opusSilence })
  const times = () => heard.map(({ time }) => time)
  return { encoder, heard, push, times }
}

test('Opus becomes AAC of the same times', heavy, async () => {
  const { encoder, heard, push, times } = await encoding()
  for (let index = 0; index < 50; index++) push(480_000 + index * 960)
  await expect.poll(() => heard.length).toBeGreaterThan(43)
  expect(times().slice(0, 3)).toEqual([480_000 - 1024, 480_000, 480_000 + 1024])
  expect(heard.slice(1).map(({ data, duration }) => [Buffer.from(data).toString('hex'), duration])).toEqual(
    heard.slice(1).map(() => [silence.toString('hex'), 1024]),
  )
  encoder.close()
})

test('what is missing is silence, what comes late is left out, and a jump is one', heavy, async () => {
  const { encoder, heard, push, times } = await encoding()
  for (let index = 0; index < 20; index++) push(index * 960)
  push(3 * 960)
  for (let index = 40; index < 60; index++) push(index * 960)
  for (let index = 0; index < 60; index++) push(9_000_000 + index * 960)
  await expect.poll(() => heard.length, { timeout: 15_000 }).toBeGreaterThan(110)
  const steps = times().map((time, index) => time - (times()[index - 1] ?? time - 1024))
  expect(steps.filter((step) => step !== 1024)).toHaveLength(1)
  expect(times().at(-1)).toBeGreaterThan(9_000_000 + 50 * 960)
  encoder.close()
})

test('random bytes are no sound, and end nothing', heavy, async () => {
  const { encoder, heard, push } = await encoding()
  for (let index = 0; index < 50; index++)
    encoder.push({ time: index * 960, duration: 960, data: Buffer.from([index * 5, 255, index, 3, index]) })
  for (let index = 50; index < 100; index++) push(index * 960)
  await expect.poll(() => heard.length).toBeGreaterThan(40)
  encoder.close()
})
