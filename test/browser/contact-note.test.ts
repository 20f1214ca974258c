import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults, line, openPlaza, phone, say } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

test('a note about somebody is on their card, for who wrote it alone', async () => {
  const [other, one] = [await plaza.guest(), await plaza.guest(phone)]
  const said = randomUUID()
  await say(other, said)
  await line(one, said).locator('button').first().click()
  const note = one.getByLabel('Your note')
  await note.fill('Met at the dinner; likes tea.')
  expect(await axeFaults(one)).toEqual([])
  await one.getByRole('button', { name: 'Save note' }).click()
  await one.getByRole('button', { name: 'Save note' }).waitFor({ state: 'detached' })
  await one.keyboard.press('Escape')
  await line(one, said).locator('button').first().click()
  await expect.poll(() => note.inputValue()).toBe('Met at the dinner; likes tea.')
})
