import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markerFault, pollMarker, readMarker } from '#server/domains/moderation/verdict/markers'
import { imageMimeTypes } from '#shared/api/media/uploads'
import type { MessageType } from '#shared/api/moderation/verdict'
import { heavy } from '#test/support/heavy'

const sender = '0x00000000000000000000000000000000000000aa'
const storage = { publicUrl: 'https://media.test/files/', sender }
const image = `https://media.test/files/chat-images/encrypted/${sender}/aGVsbG8w/1700000000000_x7.enc`
const picture = `https://media.test/files/media/chat/${sender}/1700000000000_x7.jpg`
const spoken = `https://media.test/files/media/channel/${sender}/1700000000000_x7.weba`
const art = `https://media.test/files/media/pixel-art/${sender}/bafk.png`
const voice = `https://media.test/files/chat-voice/voice/${sender}/aGVsbG8w/1700000000000_x7.enc`

function faultOf(text: string, type: MessageType = 'text', of = storage): string | null {
  const marker = readMarker(type, text)
  expect(marker).not.toBeNull()
  return marker && markerFault(marker, of)
}

describe('markers', () => {
  it.each([
    `[ENC_IMAGE:image/png]${image}`,
    `[VOICE:0]${voice}`,
    `[VOICE:3600]${voice}`,
    `[VOICE:3]${spoken}`,
    `[VOICE:3]${spoken.replace('.weba', '.ogg')}`,
    `[VOICE:3]${spoken.replace('.weba', '.m4a')}`,
    `[PIXEL_ART]${art}`,
    `[IMAGE]${picture}`,
    `[GIF]${picture.replace('.jpg', '.gif')}`,
    `[IMAGE]${picture.replace('chat/', 'group/')}`,
    '[LOCATION]{"lat":1.5,"lng":-2}',
    '[LOCATION]{"latitude":"52.5","longitude":"-13.4","name":"The square"}',
    pollMarker('Tea or coffee?'),
    `[IMAGE]${picture}\n`,
    `[ENC_IMAGE:image/png]https://media.test/files/chat-images/encrypted/${sender}/aGVsbG8w/1_a.enc`,
    `[VOICE:9]https://media.test/files/chat-voice/voice/${sender}/aGVsbG8w/1_a.enc`,
  ])('takes %s', (text) => expect(faultOf(text)).toBeNull())

  it.each([
    ['a foreign host', '[IMAGE]https://evil.test/files/chat-images/encrypted/x.png'],
    ['another sender', `[IMAGE]${picture.replace('aa/', 'ab/')}`],
    ['a longer host', `[IMAGE]${picture.replace('media.test', 'media.test.evil.test')}`],
    ['user information', `[IMAGE]${picture.replace('media.test', 'media.test@evil.test')}`],
    ['another scheme', `[IMAGE]${picture.replace('https', 'http')}`],
    ['javascript', '[ENC_IMAGE:image/png]javascript:alert(1)'],
    ['a relative address', '[IMAGE]//media.test/files/x'],
    ['a voice path in an image', `[IMAGE]${voice}`],
    ['voice as a photo', `[IMAGE]${spoken}`],
    ['voice as a GIF', `[GIF]${spoken}`],
    ['voice as a sealed picture', `[ENC_IMAGE:image/png]${spoken}`],
    ['voice of another', `[VOICE:3]${spoken.replace('aa/', 'ab/')}`],
    ['an image path in a voice message', `[VOICE:3]${image}`],
    ['a sealed picture as a photo', `[IMAGE]${image}`],
    ['a sealed picture as a GIF', `[GIF]${image}`],
    ['a photo as a GIF', `[GIF]${picture}`],
    ['a photo as a sealed picture', `[ENC_IMAGE:image/jpeg]${picture}`],
    ['a picture of another', `[IMAGE]${picture.replace('aa/', 'ab/')}`],
    ['a picture in a folder that is none of pictures', `[IMAGE]${picture.replace('chat/', 'x/')}`],
    ['a picture in a voice message', `[VOICE:3]${picture}`],
    ['a climb', `[IMAGE]https://media.test/files/media/chat/${sender}/../0xbb/x.enc`],
    ['an encoded climb', `[IMAGE]https://media.test/files/media/chat/${sender}/%2e%2e/0xbb/x.enc`],
    ['a backslash', `[IMAGE]https://media.test/files/media/chat/${sender}\\..\\x.enc`],
    ['a query', `[IMAGE]${picture}?x=1`],
    ['a fragment', `[IMAGE]${picture}#x`],
    ['an empty key', `[IMAGE]https://media.test/files/media/chat/${sender}/`],
    ['an address without its bucket, under which nothing is served', `[IMAGE]${picture.replace('media/', '')}`],
    ['an address in another case', `[IMAGE]${picture.replace('aa/', 'AA/')}`],
    ['text after the address', `[IMAGE]${picture} https://evil.test`],
    ['a nested marker', `[IMAGE][VOICE:3]${voice}`],
    ['html', `[ENC_IMAGE:text/html]${image}`],
    ['svg', `[ENC_IMAGE:image/svg+xml]${image}`],
    ['no image type', `[ENC_IMAGE:]${image}`],
    ['no parameter', `[ENC_IMAGE]${image}`],
    ['a billion seconds', `[VOICE:1000000000]${voice}`],
    ['a negative duration', `[VOICE:-1]${voice}`],
    ['a fraction', `[VOICE:1.5]${voice}`],
    ['other digits', `[VOICE:１２]${voice}`],
    ['words for a duration', `[VOICE:abc]${voice}`],
    ['no duration', `[VOICE]${voice}`],
    ['no end', `[VOICE:12${voice}`],
    ['a parameter where there is none', `[IMAGE:x]${picture}`],
    ['a location that is no JSON', '[LOCATION]here'],
    ['a location that is a list', '[LOCATION][1,2]'],
    ['a location that is nowhere', '[LOCATION]{}'],
    ['a location beyond the pole', '[LOCATION]{"latitude":952,"longitude":1}'],
    ['a location beyond the date line', '[LOCATION]{"latitude":1,"longitude":-180.5}'],
    ['a location in words', '[LOCATION]{"latitude":"here","longitude":"2"}'],
    ['nothing behind it', '[IMAGE]'],
  ])('T25: refuses %s', (_, text) => expect(faultOf(text)).not.toBeNull())

  it.each(['\ufeff', ' ', '\n\t', '\u200b', '\u2060\u200d', '\u202e', '\u00a0', '\u3164', '\u2800', '\0', '\u00ad'])(
    'T25: sees the marker behind %j',
    (blank) => {
      expect(readMarker('text', `${blank}[IMAGE]https://evil.test/x.png`)?.content).toBe('photo')
      expect(readMarker('text', `${blank}${blank}[VOICE:3]x`)?.content).toBe('voice')
    },
  )

  it.each(['', 'hello', '[image]https://x.test', 'see [IMAGE]x', '[IMAGES]x', '[OTHER]x', '[ IMAGE]x', '[VOICES:3]x'])(
    'reads %j as text',
    (text) => expect(readMarker('text', text)).toBeNull(),
  )

  it('holds a bare address sent under a type of media to the same rule', () => {
    expect(faultOf(picture, 'photo')).toBeNull()
    expect(faultOf(image, 'photo')).not.toBeNull()
    expect(faultOf(image, 'encrypted_image')).toBeNull()
    expect(faultOf(voice, 'voice_memo')).toBeNull()
    expect(faultOf('https://evil.test/x.gif', 'gif')).not.toBeNull()
    expect(faultOf('javascript:alert(1)', 'photo')).not.toBeNull()
    expect(readMarker('text', image)).toBeNull()
    expect(readMarker('photo', 'a caption')).toBeNull()
  })

  it.each([
    '[PHOTO]https://evil.test/x.png[/PHOTO]',
    '[Bild:1]https://evil.test/x.png',
    '<https://evil.test/x.png>',
    '![](https://evil.test/x.png)',
    ' ( "https://evil.test/x.png" )',
    '[a][b]//[c] ftp://evil.test/x.png',
    '(PHOTO)https://evil.test/x.png(/PHOTO)',
    '{PHOTO}https://evil.test/x.png{/PHOTO}',
    '<PHOTO>https://evil.test/x.png</PHOTO>',
    '［PHOTO］ｈｔｔｐｓ：／／evil.test/x.png［/PHOTO］',
    '【PHOTO】//evil.test/x.png【/PHOTO】',
    '(PHOTO)data:image/png;base64,AAAA',
  ])('O10: holds the address in %j to the same rule', (text) => {
    for (const type of ['photo', 'gif', 'pixel_art', 'voice', 'encrypted_image'] as const)
      expect(faultOf(text, type)).toBe('Media must be uploaded here by its sender')
    expect(readMarker('text', text)).toBeNull()
  })

  it('O10: reads no address in a caption, however many brackets it has', () => {
    expect(readMarker('photo', '[1] a caption, see below')).toBeNull()
    const began = performance.now()
    for (const brackets of ['[]', '[', ']', '([', '[a]']) expect(readMarker('photo', brackets.repeat(5_000))).toBeNull()
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  it.each([
    `[VOICE:3601]${voice}`,
    `[VOICE:86400]${voice}`,
    `[ENC_IMAGE:image/bmp]${image}`,
    `[ENC_IMAGE:image/x-icon]${image}`,
  ])('O69: takes %s', (text) => expect(faultOf(text)).toBeNull())

  it('knows a sender by the lowercased id that is in the path', () => {
    const base58 = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'
    const path = `https://media.test/files/media/chat/${base58.toLowerCase()}/1_a.png`
    expect(faultOf(`[IMAGE]${path}`, 'text', { ...storage, sender: base58 })).toBeNull()
  })

  it('takes what it builds, and nothing under any other prefix', heavy, () => {
    fc.assert(
      fc.property(fc.constantFrom(...imageMimeTypes), fc.webUrl({ withQueryParameters: true }), (mime, url) => {
        expect(faultOf(`[ENC_IMAGE:${mime}]${image}`)).toBeNull()
        expect(faultOf(`[ENC_IMAGE:${mime}]${url}`)).not.toBeNull()
      }),
    )
  })

  it('reads any text without throwing', () => {
    fc.assert(
      fc.property(fc.constantFrom('[IMAGE]', '[VOICE:', '[LOCATION]', '[ENC_IMAGE:', ''), fc.string(), (tag, rest) => {
        const marker = readMarker('text', tag + rest)
        if (marker) markerFault(marker, storage)
      }),
    )
  })
})
