import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { rooms } from '#shared/api/rooms/rooms'
import { adminSections } from '#shared/kit/pages'
import { madeUpName } from '#shared/kit/person-name'
import { type Person, personAt } from '#test/support/people'
import {
  addWallet,
  axeFaults,
  confirmAct,
  desktop,
  enterByWallet,
  field,
  go,
  openPlaza,
  phone,
  walletInBrowser,
} from './plaza.ts'

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
  await confirmAct(page, 'Suspend')
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

test('who is suspended reads why above a closed field, until it is lifted', async () => {
  const page = await openAdministration()
  const guest = await plaza.guest()
  const account: string = await guest.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
  await admin(page).getByRole('searchbox', { name: 'Search by name or address' }).fill(account)
  await admin(page)
    .getByRole('list', { name: 'People' })
    .getByRole('button', { name: madeUpName(account) })
    .click()
  const dialog = page.getByRole('dialog').last()
  await dialog.getByText(account, { exact: true }).waitFor()
  await dialog.getByRole('textbox', { name: 'Reason, shown to the person' }).fill('Spam')
  await dialog.getByRole('button', { name: 'Suspend', exact: true }).click()
  await confirmAct(page, 'Suspend')
  await guest.getByText('Your account is suspended: Spam').waitFor()
  expect(await field(guest).isDisabled()).toBe(true)
  expect(await axeFaults(guest)).toEqual([])
  await dialog.getByRole('button', { name: 'Lift suspension' }).click()
  await expect.poll(() => field(guest).isDisabled()).toBe(false)
  expect(await guest.getByText('Your account is suspended').count()).toBe(0)
})

test('who has no name is found by the one that is made for them', async () => {
  const nameless = await personAt(plaza.url, `nameless ${randomUUID()}`)
  const name = madeUpName(nameless.account)
  const page = await openAdministration()
  await admin(page).getByRole('searchbox', { name: 'Search by name or address' }).fill(name.toLowerCase())
  await admin(page).getByRole('list', { name: 'People' }).getByRole('button', { name }).waitFor()
})

test('an account is given rights and invitations, and becomes an admin', async () => {
  const page = await openAdministration()
  const { name, dialog } = await openPerson(page)
  await dialog.getByRole('checkbox', { name: 'Can create agents during the beta' }).click()
  await dialog.getByRole('spinbutton', { name: 'More invitations' }).fill('7')
  await dialog.getByRole('button', { name: 'Give', exact: true }).click()
  await page.getByText(/^\d+ invitations in total\.$/).waitFor()
  await dialog.getByRole('button', { name: 'Make admin' }).click()
  await confirmAct(page, 'Make admin')
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
  await row
    .getByRole('button', { name: /SUMMER-24/ })
    .last()
    .click()
  await confirmAct(page, 'Delete', 'SUMMER-24')
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
  for (const part of adminSections) {
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
  const named = { name: /Send to \d+ people/ }
  await admin(page).getByRole('button', named).click()
  await page.getByRole('dialog', named).getByRole('button', named).click()
  await page.getByText(/^Sent to \d+/).waitFor()
  await admin(page)
    .getByText(/Maintenance at noon.* · .* of \d+/)
    .waitFor()
  await expect.poll(async () => JSON.stringify((await reader.rest('GET /api/user/rooms')).body)).toContain('"dm"')
})

test('an admin decides reports of every room, and finds those that were decided', async () => {
  const [reporter, reported] = [await personAt(plaza.url, 'who reports'), await personAt(plaza.url, 'who is reported')]
  const { channel } = await reporter.does('rest', rooms.createChannel, { name: 'Bridge market' })
  const place = { conversationType: 'channel', conversationId: channel.id } as const
  const asked = {
    reportedAddress: reported.account,
    reportType: 'scam',
    description: 'Sold a bridge',
    ...place,
  } as const
  await reporter.does('rest', social.report, asked)
  const page = await openAdministration()
  await admin(page).getByRole('tab', { name: 'Reports' }).click()
  const card = admin(page).getByRole('listitem').filter({ hasText: 'Sold a bridge' })
  await card.getByText('scam').waitFor()
  await card.getByText('In Bridge market').waitFor()
  expect(await axeFaults(page)).toEqual([])
  await card.getByRole('button', { name: 'Claim', exact: true }).click()
  await card.getByText('you are reviewing this').waitFor()
  await card.getByRole('button', { name: 'Resolve' }).click()
  await admin(page).getByText('No open reports').waitFor()
  await admin(page).getByRole('button', { name: 'Resolved' }).click()
  await admin(page)
    .getByRole('list', { name: 'Resolved' })
    .getByText(/^Decided by/)
    .waitFor()
  await admin(page).getByRole('list', { name: 'Resolved' }).getByText('In Bridge market').waitFor()
  await admin(page).getByRole('button', { name: 'Dismissed' }).click()
  await admin(page).getByText('No reports here').waitFor()
})

test('words are blocked in every room', async () => {
  const page = await openAdministration()
  await admin(page).getByRole('tab', { name: 'Blocked words' }).click()
  await admin(page).getByText('No blocked words').waitFor()
  await admin(page).getByRole('textbox', { name: 'Word or pattern' }).fill('zorkmid')
  expect(await admin(page).getByRole('button', { name: 'Test' }).count()).toBe(0)
  await admin(page).getByRole('button', { name: 'Add', exact: true }).click()
  const remove = admin(page).getByRole('button', { name: 'Remove zorkmid' })
  await remove.waitFor()
  const writer = await personAt(plaza.url, 'who writes a word')
  await writer.rest('POST /api/alpha/join', {})
  const said = () => writer.rest('POST /api/alpha/messages', { content: 'Five zorkmid, please' })
  expect((await said()).status).toBe(403)
  await remove.click()
  await admin(page).getByText('No blocked words').waitFor()
})

test('a global moderator gets single rights and notes, and loses them', async () => {
  const somebody = await personAt(plaza.url, 'who moderates')
  const page = await openAdministration()
  await admin(page).getByRole('tab', { name: 'Moderators' }).click()
  await admin(page).getByText('No moderators yet').waitFor()
  await admin(page).getByRole('textbox', { name: 'Person' }).fill(somebody.account)
  await admin(page).getByRole('button', { name: 'Add…' }).click()
  const form = page.getByRole('dialog', { name: /^Moderator: / })
  await form.getByRole('checkbox', { name: 'Mute and ban' }).uncheck()
  await form.getByRole('textbox', { name: 'Notes' }).fill('Sundays only')
  expect(await axeFaults(page)).toEqual([])
  await form.getByRole('button', { name: 'Save' }).click()
  const list = admin(page).getByRole('list', { name: 'Moderators' })
  await list.getByText('Pin messages · Delete messages', { exact: true }).waitFor()
  await list.getByText('Sundays only').waitFor()
  const rightsOf = async () =>
    (await somebody.does('rest', moderation.inspect, {
      action: 'permissions',
      userAddress: somebody.account,
    })) as object
  expect(await rightsOf()).toMatchObject({ permissions: { canPin: true, canDelete: true, canMute: false } })
  await list.getByRole('button', { name: /^Change/ }).click()
  await form.getByRole('button', { name: 'Remove', exact: true }).click()
  await confirmAct(page, 'Remove')
  await admin(page).getByText('No moderators yet').waitFor()
  expect(await rightsOf()).toMatchObject({ permissions: { isModerator: false } })
})

test('the audit log of all rooms is filtered by act and person, and saved as a table', async () => {
  const owner = await personAt(plaza.url, 'who archives')
  const { channel } = await owner.does('rest', rooms.createChannel, { name: `Audited ${Date.now()}` })
  await owner.does('rest', rooms.archive, { room: { type: 'channel', id: channel.id } })
  const page = await openAdministration()
  await admin(page).getByRole('tab', { name: 'Audit log' }).click()
  const list = admin(page).getByRole('list', { name: 'Audit log' })
  await list.getByText('archived the room').first().waitFor()
  await admin(page).getByRole('searchbox', { name: 'By' }).fill(owner.account)
  await admin(page).getByRole('combobox', { name: 'Action' }).selectOption({ label: 'archived the room' })
  await admin(page).getByRole('button', { name: 'Show', exact: true }).click()
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
  const downloads = page.waitForEvent('download')
  await admin(page).getByRole('button', { name: 'Download CSV' }).click()
  const file = await (await downloads).path()
  const rows = readFileSync(file, 'utf8').trim().split('\r\n')
  expect(rows[0]).toContain('"created_at","action_type","moderator_address"')
  expect(rows.slice(1)).toEqual([expect.stringContaining(`"archive","${owner.account}"`)])
  await admin(page).getByRole('combobox', { name: 'Action' }).selectOption({ label: 'warned' })
  await admin(page).getByText('No entries').waitFor()
})

test('an admin sees the smart account of a person, and a failed list of entries says so', async () => {
  const page = await openAdministration()
  const { dialog } = await openPerson(page)
  await dialog.getByRole('button', { name: 'Show balances' }).click()
  await dialog.getByText(/^Smart account |^No smart account\.$/).waitFor()
  // Escape closes the person alone.
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('dialog').count()).toBe(1)
  await page.route('**/api/moderation?*', (route) => route.abort())
  await admin(page).getByRole('tab', { name: 'Audit log' }).click()
  await admin(page).getByRole('alert').getByText('The server cannot be reached at the moment.').waitFor()
  await page.unroute('**/api/moderation?*')
  await admin(page).getByRole('button', { name: 'Try again' }).click()
  await admin(page).getByRole('list', { name: 'Audit log' }).or(admin(page).getByText('No entries')).waitFor()
})

test('whoever may not create agents requests it in the page, and an admin finds the request', async () => {
  const page = await plaza.guest()
  await go(page, '/agents/new')
  const access = page.getByRole('region', { name: 'Agent access' })
  await access.getByRole('button', { name: 'Request access' }).click()
  await access.getByText(/^You requested access on/).waitFor()
  expect(await access.getByRole('button').count()).toBe(0)
  const name = await page.evaluate(() => localStorage.getItem('plaza.guest-address') ?? '')
  const of = await openAdministration()
  await admin(of).getByRole('button', { name: 'Agent access requested' }).click()
  await admin(of).getByRole('searchbox', { name: 'Search by name or address' }).fill(name)
  await admin(of).getByRole('list', { name: 'People' }).getByText('access requested').waitFor()
})
