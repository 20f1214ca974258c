import { expect, test, vi } from 'vitest'
import { keyDigestOf, streamLocations } from '#server/ports/video/hosts'

test('a stream is taken with its key alone, and never from a host that is there', async () => {
  const stream = {
    streamId: 's',
    playbackId: 'p',
    digest: keyDigestOf('key'),
    record: false,
    host: '0b0b0b0b',
    isOpen: true,
  }
  const hosts = { moved: async () => [], find: async () => stream, move: vi.fn(async () => undefined) }
  const here = { id: '0a0a0a0a', adopt: async () => undefined, endStream: async () => undefined }
  const where = streamLocations(hosts)
  await where.look('key', (host) => host === stream.host, here)
  await where.look('p', () => false, here)
  await where.look('key', () => false, null)
  expect(hosts.move).not.toHaveBeenCalled()
  await where.look('key', () => false, here)
  expect(hosts.move).toHaveBeenCalledWith('s', '0b0b0b0b', '0a0a0a0a')
})
