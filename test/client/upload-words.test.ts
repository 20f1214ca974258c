import { expect, test } from 'vitest'
import { uploadText } from '#client/web/media/words'
import { AppError } from '#shared/errors'

const megabyte = 1024 * 1024
const limited = (message?: string) =>
  new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 7_500, ...(message === undefined ? {} : { message }) })
const large = (message?: string) => new AppError('PAYLOAD_TOO_LARGE', message === undefined ? {} : { message })
const words = (error: unknown, megabytes = 2) => uploadText(error, megabytes * megabyte, 5 * megabyte)

test('an upload that a quota refuses is told which one is spent, and when more can be sent', () => {
  const own = 'You have uploaded as much as a day allows (100 MB)'
  expect(words(limited(own))).toBe(`${own}. More can be sent in 2 h 5 min.`)
  expect(words(limited())).toMatch(/^Too many requests\./)
})

test('an upload that is too large is told what is, and the limit where it is one of bytes', () => {
  expect(words(large('A file may have at most 5242880 bytes'), 6)).toBe('This is 6 MB; at most 5 MB can be sent here.')
  const pixels = 'A picture may have at most 64 megapixels, and 16384 on a side'
  expect(words(large(pixels))).toBe(`${pixels}.`)
  expect(words(large())).toBe('This is 2 MB, more than the server accepts at once.')
})
