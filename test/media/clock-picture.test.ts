import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { splitLengthPrefixed } from '#server/media/h264'
import { pictures } from './pictures.ts'

test('the clock is small, in key frames and what has changed since', () => {
  const { config, frames } = pictures(20)
  expect(config).toMatchObject({ codec: 'avc1.42c014', width: 320, height: 240 })
  const sizes = (isKey: boolean) => frames.filter(({ key }) => key === isKey).map(({ data }) => data.length)
  expect(Math.max(...sizes(true))).toBeLessThan(60_000)
  expect(Math.max(...sizes(false))).toBeLessThan(12_000)
  expect(frames.every(({ data }) => splitLengthPrefixed(data).length === 1)).toBe(true)
})

test('its pictures are those that ffmpeg was seen to decode to the last pixel', () => {
  const { frames } = pictures(20)
  const digest = createHash('sha256')
  for (const { data } of frames) digest.update(data)
  expect(digest.digest('hex').slice(0, 16)).toBe('eec4482ba6ce5af1')
})
