import fc from 'fast-check'
import { expect, test } from 'vitest'
import { archivePathOf } from '#server/domains/platform/own-data/archive-paths'
import { cleanFileName, namePart } from '#shared/kit/file-name'

const account = `0x${'a'.repeat(40)}`
const random = '1795988940156_eau3lo65r1eau3lo65r1eau3l'
const keyOf = (name: string, owner = account) => `media/file/${owner}/${random}.${namePart(name)}.bin`
const own = `files/media/file/${account}/${random}`

test('a file has its key as its path, and its own name if it has one', () => {
  expect(archivePathOf(`media/chat/${account}/${random}.png`)).toBe(`files/media/chat/${account}/${random}.png`)
  expect(archivePathOf(keyOf('plan.pdf'))).toBe(`${own}/plan.pdf`)
  expect(archivePathOf(keyOf('plan.pdf', 'email:ann.b'))).toBe(`files/media/file/email_ann.b/${random}/plan.pdf`)
})

test.each(['con.txt', 'CON', 'nul', 'Aux.tar.gz', 'prn .txt', 'com1.log', 'LPT².x'])(
  '%s, which Windows takes for a device, has another name',
  (name) => expect(archivePathOf(keyOf(name))).toMatch(/^files\/[\da-f]{20}\/_/),
)

test.each(['const.txt', 'console', 'com10.txt', 'nul-1.txt', 'a.con'])('%s is an ordinary name', (name) =>
  expect(archivePathOf(keyOf(name))).toBe(`${own}/${name}`),
)

test.each(['aux.', 'con. ', 'a. ', '.a', 'a:b', 'a/../b'])('%j, as no upload has it, is changed', (name) => {
  const path = archivePathOf(keyOf(name))
  expect(path).toMatch(/^files\/[\da-f]{20}\//)
  expect(path.split('/')).toHaveLength(3)
})

test('paths can be written everywhere, and no two keys have one', () => {
  const names = fc.oneof(
    fc.constantFrom('con', 'con.txt', 'nul.pdf', 'a'.repeat(150), `${'é'.repeat(73)}.pdf`),
    fc.string({ unit: 'binary', maxLength: 200 }).map(cleanFileName),
  )
  const owners = fc.constantFrom(account, 'email:ann', 'ends.', 'a.b', 'x'.repeat(128))
  const keys = fc.tuple(names, owners, fc.stringMatching(/^[a-z\d]{8}$/))
  fc.assert(
    fc.property(fc.uniqueArray(keys, { minLength: 2, maxLength: 20, selector: String }), (all) => {
      const paths = all.map(([name, owner, at]) =>
        archivePathOf(`media/file/${owner}/1795988940156_${at}.${namePart(name)}.bin`),
      )
      for (const path of paths) {
        expect(path.length).toBeLessThanOrEqual(180)
        for (const part of path.split('/')) {
          expect(part).not.toMatch(/[<>:"|?*\\\p{Cc}]|^$|[. ]$/u)
          expect(part).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i)
        }
      }
      expect(new Set(paths).size).toBe(paths.length)
    }),
    { numRuns: 300 },
  )
})
