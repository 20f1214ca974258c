import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Person, personAt } from '#test/support/people'
import { addWallet, desktop, enterByWallet, go, openPlaza, phone, walletInBrowser } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
let person: Person
let made = 0
beforeAll(async () => {
  plaza = await openPlaza({ environment: { SUPER_ADMINS: walletInBrowser.address, BETA: 'granted' } })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const admin = (page: Page) => page.getByRole('dialog', { name: 'Administration' })

/** The administration, opened by a super admin who has just signed in. */
async function openAdministration(device: Parameters<typeof plaza.visit>[0] = desktop): Promise<Page> {
  const page = await plaza.visit(device, addWallet)
  await enterByWallet(page)
  await page.getByRole('button', { name: 'Administration' }).click()
  return page
}

async function openPerson(page: Page): Promise<{ name: string; dialog: ReturnType<Page['getByRole']> }> {
  made += 1
  const name = `subject_${made}`
  person = await personAt(plaza.url, name)
  await person.rest('POST /api/username', { username: name })
  await admin(page).getByRole('searchbox', { name: 'Search by name or address' }).fill(name)
  await admin(page)
    .getByRole('list', { name: 'People' })
    .getByRole('button', { name: new RegExp(`@${name} `) })
    .click()
  return { name, dialog: page.getByRole('dialog').last() }
}

test('people are found, noted about, suspended with a reason, and the suspension is lifted', async () => {
  const page = await openAdministration()
  const { name, dialog } = await openPerson(page)
  await dialog.getByText(person.account, { exact: true }).waitFor()
  await dialog.getByRole('textbox', { name: 'Notes' }).fill('Wrote to us twice')
  await dialog.getByRole('button', { name: 'Save notes' }).click()
  await page.getByText('Notes saved.').waitFor()
  await dialog.getByRole('textbox', { name: 'Reason, shown to the person' }).fill('Spam')
  await dialog.getByRole('button', { name: 'Suspend', exact: true }).click()
  await dialog.getByRole('button', { name: /Suspend/ }).click()
  await dialog.getByText('Suspended: Spam').waitFor()
  const refused = await person.rest('POST /api/username', { username: 'anything_else' })
  expect(refused.status).toBe(403)
  await dialog.getByRole('button', { name: 'Lift suspension' }).click()
  await dialog.getByRole('button', { name: 'Suspend', exact: true }).waitFor()
  expect((await person.rest('POST /api/username', { username: `${name}b` })).status).toBe(200)
  await page.reload()
  await admin(page).getByRole('searchbox').fill(person.account)
  await admin(page)
    .getByRole('list', { name: 'People' })
    .getByRole('button', { name: new RegExp(`@${name}b `) })
    .click()
  expect(await page.getByRole('textbox', { name: 'Notes' }).inputValue()).toBe('Wrote to us twice')
})

test('an account is given rights and invitations, and becomes an admin', async () => {
  const page = await openAdministration()
  const { name, dialog } = await openPerson(page)
  await dialog.getByRole('checkbox', { name: 'Can create agents during the beta' }).click()
  await dialog.getByRole('spinbutton', { name: 'More invitations' }).fill('7')
  await dialog.getByRole('button', { name: 'Give', exact: true }).click()
  await page.getByText(/^\d+ invitations in total\.$/).waitFor()
  await dialog.getByRole('button', { name: 'Make admin' }).click()
  await dialog.getByRole('button', { name: /Make admin/ }).click()
  await dialog.getByRole('button', { name: 'Remove admin rights' }).waitFor()
  const { body } = await person.rest(`GET /api/admin/users?search=${name}`)
  expect(body).toMatchObject({ users: [{ username: name, role: 'admin', beta_access: true }] })
})

test('an account is exported for its owner, and deleted once its name is typed', async () => {
  const page = await openAdministration()
  const { name, dialog } = await openPerson(page)
  await dialog.getByRole('button', { name: 'Create archive' }).click()
  await page.getByText(/^The archive is being created/).waitFor()
  expect((await person.rest('GET /api/account/export')).body).toMatchObject({ export: { include_media: false } })
  await dialog.getByRole('button', { name: 'Delete account…' }).click()
  const erase = page.getByRole('form', { name: 'Delete account…' })
  await erase.getByRole('textbox', { name: 'Reason' }).fill('They asked by letter')
  const typed = erase.getByRole('textbox', { name: `Type ${name} to confirm` })
  await typed.fill('somebody_else')
  await erase.getByRole('button', { name: 'Delete account', exact: true }).click()
  expect(await typed.evaluate((field) => (field as HTMLInputElement).validity.patternMismatch)).toBe(true)
  expect((await person.rest('GET /api/auth/session')).status).toBe(200)
  await typed.fill(name)
  await erase.getByRole('button', { name: 'Delete account', exact: true }).click()
  await page.getByText(/^The account of .*subject_\d.* is being deleted\.$/).waitFor()
  await expect.poll(async () => (await person.rest('GET /api/auth/session')).status).toBe(401)
})

test('invite codes are made, turned off and deleted', async () => {
  const page = await openAdministration()
  await admin(page).getByRole('tab', { name: 'Invite codes' }).click()
  await admin(page).getByText('No invite codes yet').waitFor()
  await admin(page).getByRole('textbox', { name: 'Code', exact: true }).fill('summer-24')
  await admin(page).getByRole('spinbutton', { name: 'Uses' }).fill('0')
  await admin(page).getByRole('button', { name: 'Create code' }).click()
  const row = admin(page).getByRole('listitem').filter({ hasText: 'SUMMER-24' })
  await row.getByText('used 0 times · never expires').waitFor()
  await row.getByRole('button', { name: 'Turn off SUMMER-24' }).click()
  await row.getByText('off · used 0 times').waitFor()
  const remove = row.getByRole('button', { name: /SUMMER-24/ }).last()
  await remove.click()
  await remove.click()
  await admin(page).getByText('No invite codes yet').waitFor()
})

test.each([
  ['desktop', desktop],
  ['phone', phone],
] as const)('analytics are counted and drawn, and nothing is wider than a %s', async (_name, device) => {
  const page = await openAdministration(device)
  await admin(page).getByRole('tab', { name: 'Analytics' }).click()
  await admin(page).getByRole('button', { name: '30 days' }).click()
  await admin(page)
    .getByRole('img', { name: /^New people: [1-9]\d* in total/ })
    .waitFor()
  for (const part of ['people', 'invitations', 'analytics', 'broadcasts', 'installation', 'cluster']) {
    await go(page, `/admin/${part}`)
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  }
})

test('a broadcast is sent to everyone', async () => {
  const page = await openAdministration()
  const reader = await personAt(plaza.url, 'broadcast reader')
  await admin(page).getByRole('tab', { name: 'Broadcasts' }).click()
  await admin(page).getByRole('textbox', { name: 'Message' }).fill('Maintenance at noon')
  const send = admin(page).getByRole('button', { name: /Send to \d+ people/ })
  await send.click()
  await send.click()
  await page.getByText(/^Sent to \d+/).waitFor()
  await admin(page)
    .getByText(/Maintenance at noon.* · .* of \d+/)
    .waitFor()
  await expect.poll(async () => JSON.stringify((await reader.rest('GET /api/user/rooms')).body)).toContain('"dm"')
})
