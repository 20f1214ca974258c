import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Accounts } from '#server/domains/people/accounts/model'
import { forgetProfile } from '#server/domains/people/accounts/profiles'
import { field, isLive, line, openPlaza, say } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

/** Are these words shown from left to right in this order, each itself from left to right? */
const standInOrder = (place: Locator, words: readonly string[]) =>
  place.evaluate((element, wanted) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    const lefts = new Map<string, number[]>()
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const word of wanted) {
        const at = node.textContent?.indexOf(word) ?? -1
        if (at < 0) continue
        const range = document.createRange()
        const ends = [at, at + word.length - 1].map((start) => {
          range.setStart(node as Node, start)
          range.setEnd(node as Node, start + 1)
          return range.getBoundingClientRect().left
        })
        lefts.set(word, ends)
      }
    const found = wanted.flatMap((word) => lefts.get(word) ?? [])
    return found.length === 2 * wanted.length && found.every((left, at) => at === 0 || left > (found[at - 1] ?? 0))
  }, words)

const Session = z.object({ userAddress: z.string() })

/** A guest with a name that only an older version accepted. */
async function guestCalled(name: string): Promise<Page> {
  const page = await plaza.guest()
  const { userAddress } = Session.parse(await page.evaluate(async () => (await fetch('/api/auth/session')).json()))
  await Accounts.updateOne({ _id: userAddress }, { $set: { display_name: name } })
  forgetProfile(plaza.node, userAddress)
  await page.reload()
  await isLive(page)
  return page
}

test('M14: a direction character in a text or in an older name does not reorder the text beside it', async () => {
  const [page, other] = [await guestCalled('Sam\u202e\u2067evil'), await plaza.guest()]
  const mark = randomUUID().slice(0, 8)
  await say(page, `${mark} **bo\u202eld** goes on [l\u202eink](https://example.com/) to the end`)
  const row = line(other, mark)
  await row.locator('strong').waitFor()
  expect(await row.locator('.messages__who').textContent()).toBe('Samevil')
  expect(await standInOrder(row.locator('.text'), ['goes', 'on', 'to', 'the', 'end'])).toBe(true)

  await field(page).pressSequentially('more')
  const typing = other.locator('.messages__typing', { hasText: 'is typing' })
  await typing.waitFor()
  expect(await standInOrder(typing, ['Sam', 'is', 'typing'])).toBe(true)
})

test('M14: right-to-left names are isolated from the sentence around them', async () => {
  const [page, other] = [await guestCalled('שרה'), await plaza.guest()]
  await field(page).pressSequentially('more')
  // Typing of the previous test may still be shown.
  await expect.poll(() => other.locator('.messages__typing').allTextContents()).toEqual(['\u2068שרה\u2069 is typing'])
})
