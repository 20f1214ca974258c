import { expect, test } from 'vitest'
import { readConfig } from '#server/config'

test('livestreams are on, but in tests that do not ask for them, and where they are turned off', () => {
  expect(readConfig({}).video).toMatchObject({ livepeer: null, publicUrl: 'http://localhost:3000' })
  expect(readConfig({ NODE_ENV: 'test' }).video).toBeNull()
  expect(readConfig({ NODE_ENV: 'test', VIDEO_PROVIDER: 'selfhosted' }).video).not.toBeNull()
  expect(readConfig({ VIDEO_PROVIDER: 'none' }).video).toBeNull()
})

test('encoders reach the machine where browsers do, unless it is said otherwise', () => {
  expect(readConfig({}).video?.engine.rtmpHost).toBe('127.0.0.1')
  expect(readConfig({ HOST: '0.0.0.0' }).video?.engine.rtmpHost).toBe('0.0.0.0')
  expect(readConfig({ HOST: '0.0.0.0', RTMP_HOST: '10.0.0.1' }).video?.engine.rtmpHost).toBe('10.0.0.1')
})

test('what is kept is below the data, unless it is said otherwise', () => {
  expect(readConfig({ DATA_DIR: '/a' }).video?.engine.directory).toBe('/a/media')
  expect(readConfig({ DATA_DIR: '/a', MEDIA_DIR: '/b' }).video?.engine.directory).toBe('/b')
})

test('ports and addresses of media are read', () => {
  const given = { MEDIA_UDP_PORTS: '40000-40099', MEDIA_ANNOUNCED_IPS: '203.0.113.7, 2001:db8::1' }
  expect(readConfig(given).video?.engine.peers).toEqual({
    announced: ['203.0.113.7', '2001:db8::1'],
    udpPorts: [40_000, 40_099],
    address: null,
  })
})

test('MediaMTX is beside the server, at its own ports, unless it is said otherwise', () => {
  expect(readConfig({}).video?.mediamtx).toBeNull()
  const asked = { VIDEO_PROVIDER: 'mediamtx', PUBLIC_URL: 'https://plaza.test:8443' }
  expect(readConfig(asked).video?.mediamtx).toEqual({
    apiUrl: 'http://localhost:9997',
    listUrl: 'http://localhost:9996',
    webrtcUrl: 'http://plaza.test:8889',
    hlsUrl: 'http://plaza.test:8888',
    playbackUrl: 'http://plaza.test:9996',
    rtmpUrl: 'rtmp://plaza.test:1935',
    graceMs: 30_000,
  })
  const elsewhere = {
    MEDIAMTX_API_URL: 'http://mediamtx:9997',
    MEDIAMTX_WEBRTC_URL: 'https://media.test/webrtc',
    MEDIAMTX_HLS_URL: 'https://media.test/hls',
    MEDIAMTX_PLAYBACK_URL: 'https://media.test/recorded',
    RTMP_URL: 'rtmps://media.test',
    STREAM_RECONNECT_GRACE_MS: '5000',
  }
  expect(readConfig({ ...asked, ...elsewhere }).video?.mediamtx).toEqual({
    apiUrl: 'http://mediamtx:9997',
    listUrl: 'http://mediamtx:9996',
    webrtcUrl: 'https://media.test/webrtc',
    hlsUrl: 'https://media.test/hls',
    playbackUrl: 'https://media.test/recorded',
    rtmpUrl: 'rtmps://media.test',
    graceMs: 5_000,
  })
})

test.each([
  ['MEDIAMTX_API_URL', 'mediamtx:9997'],
  ['MEDIAMTX_HLS_URL', 'rtmp://media.test'],
  ['MEDIA_UDP_PORTS', '40000'],
  ['MEDIA_UDP_PORTS', '40099-40000'],
  ['MEDIA_UDP_PORTS', '0-10'],
  ['MEDIA_UDP_PORTS', '40000-70000'],
  ['MEDIA_ANNOUNCED_IPS', 'plaza.example'],
  ['RTMP_PORT', '70000'],
  ['RTMP_URL', 'http://plaza.example'],
  ['HLS_PART_MS', '1'],
  ['MAX_INGESTS', '0'],
  ['VIDEO_PROVIDER', 'other'],
])('a value of %s that makes no sense is refused: %s', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(`${name} is not usable`)
})
