import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endingOf, isProgram, isProgramName } from '#server/domains/media/uploads/index'
import { draft } from '#shared/api/rooms/message'
import { cleanFileName, fileNameIn, namePart } from '#shared/kit/file-name'

const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({
    unit: fc.constantFrom('.', '/', '\\', ' ', '\n', '\u202e', '\u200b', '\ud800', 'é', '表', '😀', 'a'),
    maxLength: 200,
  }),
)

test('a clean name stays as it is, is a name of an attachment, and is read from its key', () => {
  fc.assert(
    fc.property(anyName, (given) => {
      const name = cleanFileName(given)
      expect(cleanFileName(name)).toBe(name)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(150)
      expect(name).not.toMatch(/[/\\<>:"|?*\p{Cc}\p{Cf}]|^[. ]|[. ]$/u)
      const url = `https://a.test/files/media/file/0xaa/1795988940156_eau3lo65r1.${namePart(name)}.bin`
      expect(draft.attachments.parse([{ url, name }])).toEqual([{ url, name }])
      expect(fileNameIn(url)).toBe(name)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  'https://a.test/files/media/chat/0xaa/1795988940156_eau3lo65r1.png',
  'media/file/0xaa/1795988940156_eau3lo65r1.bin',
  'media/file/0xaa/b/1795988940156_eau3lo65r1.YQ.bin',
])('%s has no name', (place) => expect(fileNameIn(place)).toBeNull())

test('the first bytes alone tell what a file is', () => {
  expect(endingOf('<!doctype html>')).toBe('bin')
  expect(endingOf(' %PDF-1.7')).toBe('bin')
  expect(endingOf('%PDF-1.7')).toBe('pdf')
  expect(isProgram('a MZ')).toBe(false)
  for (const name of ['a.exe', 'A.EXE', 'a.pdf.Scr', 'exe', 'a.pdf.js', 'a.iso']) expect(isProgramName(name)).toBe(true)
  for (const name of ['a.ts', 'a.sh.txt', 'a.exe.zip', 'exe.pdf']) expect(isProgramName(name)).toBe(false)
})
