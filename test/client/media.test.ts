import { webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { decryptMedia, encryptMedia, mediaIn, placeMarker } from '#client/sdk/media'

const { vectors } = z
  .object({
    vectors: z.array(z.object({ keyHex: z.string(), plaintextUtf8: z.string().nullable(), blobHex: z.string() })),
  })
  .parse(JSON.parse(readFileSync(new URL('../vectors/aes-gcm-blob.json', import.meta.url), 'utf8')))
const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))
const key = webcrypto.getRandomValues(new Uint8Array(32))

describe('sealed media', () => {
  test.each(vectors)('of the vector $blobHex', async ({ keyHex, plaintextUtf8, blobHex }) => {
    const opened = decryptMedia(hex(blobHex), hex(keyHex))
    if (plaintextUtf8 === null) await expect(opened).rejects.toThrow('cannot be opened')
    else expect(await (await opened).text()).toBe(plaintextUtf8)
  })

  test('are a vector, the data and a tag; each time others', async () => {
    const data = new Blob(['a voice'])
    const [one, other] = await Promise.all([encryptMedia(data, key), encryptMedia(data, key)])
    expect([one.size, one.type]).toEqual([12 + 7 + 16, 'application/octet-stream'])
    expect(await one.text()).not.toBe(await other.text())
    const opened = await decryptMedia(one, key, 'audio/webm')
    expect([await opened.text(), opened.type]).toEqual(['a voice', 'audio/webm'])
  })

  test.each([0, 16, 24, 31, 33, 64])('are made and opened by a key of 32 bytes, and by none of %i', async (bytes) => {
    const other = new Uint8Array(bytes)
    const sealed = await encryptMedia(new Blob(['x']), key)
    for (const refused of [encryptMedia(new Blob(['x']), other), decryptMedia(sealed, other)])
      await expect(refused).rejects.toThrow(new RangeError(`The key of a conversation has 32 bytes, not ${bytes}`))
  })

  test('with one bit changed, in any byte, are not opened', async () => {
    const sealed = new Uint8Array(await (await encryptMedia(new Blob(['x']), key)).arrayBuffer())
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.map((byte, of) => (of === at ? byte ^ 1 : byte))
      await expect(decryptMedia(changed, key)).rejects.toThrow('cannot be opened')
    }
    await expect(decryptMedia(sealed, webcrypto.getRandomValues(new Uint8Array(32)))).rejects.toThrow(
      'cannot be opened',
    )
    await expect(decryptMedia(sealed.slice(0, 20), key)).rejects.toThrow('cannot be opened')
  })
})

test.each([
  ['[ENC_IMAGE:image/png]https://a.test/x.enc', { kind: 'image', type: 'image/png', url: 'https://a.test/x.enc' }],
  ['[VOICE:12]https://a.test/x].enc', { kind: 'voice', seconds: 12, url: 'https://a.test/x].enc' }],
  ['[VOICE:1.5]https://a.test/x.enc', null],
  ['[VOICE:]https://a.test/x.enc', null],
  ['[ENC_IMAGE:]https://a.test/x.enc', null],
  [' [VOICE:1]https://a.test/x.enc', null],
  ['hello', null],
  ['[IMAGE]https://a.test/x.jpg', { kind: 'picture', url: 'https://a.test/x.jpg' }],
  ['[GIF]https://a.test/x.gif', { kind: 'gif', url: 'https://a.test/x.gif' }],
  ['[PIXEL_ART]https://a.test/x.png', { kind: 'pixel_art', url: 'https://a.test/x.png' }],
  ['[IMAGE:image/png]https://a.test/x.png', null],
  ['[IMAGE]', null],
  ['https://a.test/x.jpg', null],
  ['[LOCATION]{"lat":52.5,"lng":"13.4"}', { kind: 'place', place: { latitude: 52.5, longitude: 13.4 } }],
  [
    placeMarker({ latitude: -1, longitude: 0, name: 'x' }),
    { kind: 'place', place: { latitude: -1, longitude: 0, name: 'x' } },
  ],
  ['[LOCATION]{"latitude":91,"longitude":0}', { kind: 'place', place: null }],
  ['[LOCATION]{"latitude":1}', { kind: 'place', place: null }],
  ['[LOCATION]null', { kind: 'place', place: null }],
  ['[LOCATION]', { kind: 'place', place: null }],
])('%s names %j', (text, media) => expect(mediaIn(text)).toEqual(media))

test.each([
  ['https://a.test/x.jpg', 'photo', { kind: 'picture', url: 'https://a.test/x.jpg' }],
  ['https://a.test/x.gif', 'gif', { kind: 'gif', url: 'https://a.test/x.gif' }],
  ['https://a.test/x.png', 'pixel_art', { kind: 'pixel_art', url: 'https://a.test/x.png' }],
  ['[VOICE:3]https://a.test/x.enc', 'photo', { kind: 'voice', seconds: 3, url: 'https://a.test/x.enc' }],
  ['look: https://a.test/x.jpg', 'photo', null],
  ['javascript:alert(1)', 'photo', null],
] as const)('%s of type %s names %j', (text, type, media) => expect(mediaIn(text, type)).toEqual(media))
