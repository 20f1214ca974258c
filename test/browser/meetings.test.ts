import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults, confirmAct, go, line, openPlaza, phone, say } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

/** The picture of somebody, once it moves. */
async function isSeen(page: Page, name: string): Promise<void> {
  const video = page.getByRole('figure', { name, exact: true }).locator('video')
  await expect
    .poll(() => video.evaluate((one: HTMLVideoElement) => one.videoWidth), { timeout: 60_000 })
    .toBeGreaterThan(0)
}

test('a meeting is opened, shared, entered by a guest, seen and heard by both, and ended for both', async () => {
  const host = await plaza.guest()
  await go(host, '/calls')
  await host.getByLabel('Meeting title').fill('Tea at five')
  await host.getByRole('button', { name: 'Start a meeting' }).click()
  const link = host.getByRole('link', { name: 'Tea at five' })
  const address = (await link.getAttribute('href')) ?? ''
  expect(address).toMatch(/\/room\/[A-HJ-NP-Z2-9]{6}$/)
  await host.getByRole('link', { name: 'Your permanent room' }).waitFor()
  expect(await axeFaults(host)).toEqual([])
  await link.click()
  await host.getByRole('figure', { name: 'Your picture' }).locator('video').waitFor()
  expect(await axeFaults(host)).toEqual([])
  await host.getByRole('button', { name: 'Enter the meeting' }).click()
  await host.getByText('Nobody else is here yet').waitFor()

  const guest = await plaza.visit(phone)
  await guest.goto(address)
  await guest.getByLabel('Your name').fill('Cora')
  await guest.getByRole('button', { name: 'Enter the meeting' }).click()
  await isSeen(host, 'Cora')
  await guest.locator('.meetings__meeting-picture:not(.mine) video').waitFor()
  expect(await axeFaults(guest)).toEqual([])

  await guest.getByRole('button', { name: 'Microphone' }).click()
  await host.getByRole('figure', { name: 'Cora' }).getByText('Microphone off').waitFor()
  await guest.getByRole('button', { name: 'Camera' }).click()
  await host
    .getByRole('figure', { name: 'Cora' })
    .locator('video.meetings__unseen-picture')
    .waitFor({ state: 'attached' })
  await guest.getByRole('button', { name: 'Camera' }).click()
  await isSeen(host, 'Cora')

  await guest.getByRole('button', { name: 'Leave' }).click()
  await guest.getByText('You have left the meeting.').waitFor()
  expect(await axeFaults(guest)).toEqual([])
  await host.getByText('Nobody else is here yet').waitFor()
  await guest.getByRole('button', { name: 'Rejoin' }).click()
  await isSeen(host, 'Cora')
  await guest.getByRole('button', { name: 'Leave' }).click()
  await host.getByText('Nobody else is here yet').waitFor()
  await guest.reload()
  expect(await guest.getByLabel('Your name').inputValue()).toBe('Cora')
  await guest.getByRole('button', { name: 'Enter the meeting' }).click()
  await isSeen(host, 'Cora')
  await host.getByRole('button', { name: 'End for all' }).click()
  await confirmAct(host, 'End for all')
  for (const page of [host, guest]) await page.getByText('The host has ended the meeting.').waitFor()
  await guest.reload()
  await guest.getByText('Its host has ended this meeting.').waitFor()
  await plaza.settle()
})

test('a host removes a guest, who is told so and does not come back', async () => {
  const host = await plaza.guest()
  await go(host, '/calls')
  const address = (await host.getByRole('link', { name: 'Your permanent room' }).getAttribute('href')) ?? ''
  const guest = await plaza.visit(phone)
  await guest.goto(address)
  // O84: who comes first waits for the host, and enters by themself once they are there.
  await guest.getByText('is not here yet').waitFor()
  await guest.getByLabel('Your name').fill('Cora')
  await guest.getByRole('button', { name: 'Enter the meeting' }).click()
  await guest.getByText('You enter by yourself when they come').waitFor()
  expect(await axeFaults(guest)).toEqual([])
  await host.goto(address)
  await host.getByRole('button', { name: 'Enter the meeting' }).click()
  const picture = host.getByRole('figure', { name: 'Cora', exact: true })
  await picture.getByRole('button', { name: 'Remove Cora' }).click()
  await host.getByRole('dialog', { name: 'Remove Cora' }).waitFor()
  expect(await axeFaults(host)).toEqual([])
  await confirmAct(host, 'Remove', 'Cora')
  await guest.getByText('The host has removed you from this meeting.').waitFor()
  await host.getByText('Nobody else is here yet').waitFor()
  await guest.reload()
  await guest.getByRole('button', { name: 'Enter the meeting' }).click()
  await guest.getByText('The host has removed you from this meeting.').waitFor()
  await plaza.settle()
})

test('O84: a permanent room is made when its owner opens its address first, and others are told that there is none', async () => {
  const [host, guest] = [await plaza.guest(), await plaza.visit(phone)]
  const account = await host.evaluate(async () => {
    const answer = await fetch('/api/auth/session')
    return ((await answer.json()) as { userAddress: string }).userAddress
  })
  const address = `${plaza.url}/room/${encodeURIComponent(account)}`
  await guest.goto(address)
  await guest.getByText('This person has no room yet.').waitFor()
  await host.goto(address)
  await host.getByRole('button', { name: 'Enter the meeting' }).waitFor()
  await guest.getByRole('button', { name: 'Try again' }).click()
  await guest.getByText('is not here yet').waitFor()
  await guest.goto(`${plaza.url}/room/ABCDEF`)
  await guest.getByText('There is no such meeting.').waitFor()
  await plaza.settle()
})

test('somebody is called from the list of calls, answers, and both have the call in their lists', async () => {
  const [one, two] = [await plaza.guest(), await plaza.guest(phone)]
  const said = randomUUID()
  await say(one, said)
  const call = async () => {
    await line(two, said).locator('button').first().click()
    await two.getByRole('dialog').getByRole('button', { name: 'Call', exact: true }).click()
  }
  await call()
  // O82: who shares a room does not ring, until the person says so.
  await two.getByText('Only friends may call this person').waitFor()
  await two.keyboard.press('Escape')
  await one.getByRole('button', { name: /Settings$/ }).click()
  await one.getByRole('tab', { name: 'Privacy' }).click()
  const callers = one.getByRole('group', { name: 'Who can call you' })
  const everyone = callers.getByRole('radio', { name: 'Everyone' })
  await callers.getByText('Everyone', { exact: true }).click()
  await expect.poll(() => everyone.isChecked()).toBe(true)
  expect(await axeFaults(one)).toEqual([])
  await one.keyboard.press('Escape')

  await call()
  await two
    .getByText(/^Ringing .+…$/)
    .first()
    .waitFor()
  const name = (await two.getByRole('heading', { level: 1 }).innerText()).trim()
  await two.getByText(`Ringing ${name}…`).first().waitFor()
  expect(await axeFaults(two)).toEqual([])
  await two.getByRole('button', { name: 'Cancel' }).click()
  await one.getByRole('alert').waitFor({ state: 'detached' })
  // It leads back to the room where it was made.
  await line(two, said).waitFor()
  await go(two, '/calls')
  await two.getByText('Video call not answered').waitFor()

  await two
    .getByRole('button', { name: `Call ${name}` })
    .first()
    .click()
  await one.getByRole('alert').getByRole('button', { name: 'Decline' }).click()
  await two.getByText(`${name} declined the call.`).waitFor()
  expect(await axeFaults(two)).toEqual([])
  await two.getByRole('button', { name: 'Call again' }).waitFor()
  await two.getByRole('link', { name: 'Back to your calls' }).click()
  await two.getByText('Video call declined').waitFor()

  await two
    .getByRole('button', { name: `Call ${name}` })
    .first()
    .click()
  await one.getByRole('alert').getByRole('button', { name: 'Answer' }).waitFor()
  expect(await axeFaults(one)).toEqual([])
  await one.getByRole('alert').getByRole('button', { name: 'Answer' }).click()
  await expect
    .poll(() => two.locator('.meetings__meeting-picture:not(.mine) video').count(), { timeout: 60_000 })
    .toBe(1)
  await two.getByRole('button', { name: 'Leave' }).click()
  await two.getByText('The call has ended.').waitFor()
  await two.getByRole('button', { name: 'Rejoin' }).click()
  await isSeen(two, (await two.locator('.meetings__meeting-picture:not(.mine)').getAttribute('aria-label')) ?? '')
  await go(one, '/calls')
  await one.getByText('Incoming video call').waitFor()
  await one.getByText('You declined a video call').waitFor()
  await one.getByText('Missed video call').waitFor()
  await plaza.settle()
})
