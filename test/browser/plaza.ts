import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as driver,
  type Page,
} from 'playwright-core'
import { expect } from 'vitest'
import { startDemo } from '#server/demo/demo'
import { boot } from '#test/support/boot'
import { build } from '#test/support/programs'
import { chromium, freePort } from '#test/support/test-servers'
import { wallet } from '#test/support/wallet'

/** Milliseconds, for a machine that does much else. */
const longestWait = 90_000

const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update']
/** A microphone that beeps, and that no page has to ask for. */
const devices = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
/** Ports of old services, which Chromium refuses and a free port may be. */
const refused = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]
const ports = [`--explicitly-allowed-ports=${refused.join()}`]
const flags = ['--no-sandbox', '--disable-gpu', '--disable-sync', ...quiet, ...devices, ...ports]

export const desktop = { viewport: { width: 1440, height: 900 } }
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** One browser and one build of the page for all files of a process. */
const shared = globalThis as { browser?: Browser }

async function openBrowser(): Promise<Browser> {
  if (!shared.browser?.isConnected()) {
    build()
    shared.browser = await driver.launch({ executablePath: chromium ?? '', args: flags })
  }
  return shared.browser
}

/** A real server with the built page, and visitors of their own; with `isSeeded`, the rooms of the demo have messages. */
export async function openPlaza({
  isSeeded = false,
  environment = {},
  services = {},
}: {
  isSeeded?: boolean
  environment?: Record<string, string>
  services?: NonNullable<Parameters<typeof boot>[0]>['services']
} = {}) {
  const browser = await openBrowser()
  const port = await freePort()
  const url = `http://localhost:${port}`
  const server = await boot({
    nodes: 1,
    entry: 'through the door',
    services,
    environment: { ...environment, PORT: String(port), PUBLIC_URL: url, DEMO: 'on' },
  })
  const node = server.apps[0]?.node
  if (!node) throw new Error('There is no node')
  const demo = isSeeded ? await startDemo(node, () => 3_600_000) : null
  const contexts: BrowserContext[] = []
  const faults: string[] = []
  const outside: string[] = []
  const leave = async () => {
    for (const context of contexts.splice(0)) await context.close()
  }

  const visit = async (
    options: BrowserContextOptions = desktop,
    prepare?: (page: Page) => Promise<void>,
  ): Promise<Page> => {
    const context = await browser.newContext(options)
    contexts.push(context)
    context.setDefaultTimeout(longestWait)
    const page = await context.newPage()
    page.on('pageerror', ({ message }) => faults.push(message))
    await page.addInitScript(watchNesting)
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== url) outside.push(request.url())
    })
    await prepare?.(page)
    await page.goto(url)
    return page
  }
  const guest = async (options?: BrowserContextOptions): Promise<Page> => {
    const page = await visit(options)
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
    await go(page, '/rooms/alpha')
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
    await isLive(page)
    return page
  }

  return {
    url,
    node,
    /** Ends every visit, and fails if a page had an error or sent a request to another host. */
    async settle() {
      await leave()
      expect({ faults: faults.splice(0), outside }).toEqual({ faults: [], outside: [] })
    },
    visit,
    guest,
    async close() {
      await leave()
      demo?.stop()
      await server.close()
    },
  }
}

/** Throws in the page when it nests elements that HTML forbids to nest, such as a form in a form: they would not work. */
function watchNesting() {
  const inside = (outer: string) => `:is(${outer}) :is(a, button, input, select, textarea, summary)`
  const faulty = ['form form', 'label label', inside('a, button, summary'), 'p :is(div, p, ul, ol, dl, form, section)']
  const look = () => {
    const nested = document.querySelector(faulty.join())
    if (nested) throw new Error(`Nested where it may not be: ${nested.outerHTML.slice(0, 200)}`)
  }
  new MutationObserver(look).observe(document, { childList: true, subtree: true })
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds on the page as it is now, once nothing moves. */
export async function axeFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe)
  return page.evaluate(async () => {
    const { run } = (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe
    const running = () =>
      document
        .getAnimations()
        .filter((one) => one.playState === 'running' && one.effect?.getComputedTiming().endTime !== Infinity)
    let violations: AxeResults['violations']
    // What fades in while axe reads has a contrast that nobody is shown for long.
    do {
      while (running().length > 0) await Promise.allSettled(running().map((one) => one.finished))
      violations = (await run()).violations
    } while (running().length > 0)
    return violations.map(
      ({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]?.target} ${nodes[0]?.any[0]?.message}`,
    )
  })
}

/** To another page of Plaza within the visit, as a link leads there. */
export async function go(page: Page, path: string): Promise<void> {
  // A dialog that was just closed takes its step of the history along, a moment later.
  await page.waitForFunction(
    () => (history.state?.layers ?? 0) <= document.querySelectorAll('dialog[open]:not([data-address])').length,
  )
  await page.evaluate((to) => history.pushState(null, '', to), path)
}

export const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

export async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text)
  await page.keyboard.press('Enter')
}

/** One message of the timeline. */
export const line = (page: Page, text: string) => page.locator('.messages__message', { hasText: text })

export async function becomeModerator(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Be the moderator' }).click()
  await page.getByRole('complementary', { name: 'Moderation' }).waitFor()
}

/** In the dialog that asks for the reason of an act, acts, and waits for its end: while it is open, all else is inert. */
export async function pressIn(page: Page, act: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: act })
  await dialog.getByRole('button', { name: act, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** The account whose wallet a browser holds. */
export const walletInBrowser = wallet('in a browser')

/** A wallet that announces itself as extensions do; it refuses the first request, and signs the second. */
export async function addWallet(page: Page): Promise<void> {
  let asked = 0
  await page.exposeFunction('askWallet', async (method: string, message: `0x${string}`) => {
    if (method === 'eth_requestAccounts') return [walletInBrowser.address]
    asked += 1
    return asked === 1 ? null : walletInBrowser.signMessage({ message: { raw: message } })
  })
  await page.addInitScript(() => {
    const { askWallet } = window as unknown as { askWallet(method: string, message: unknown): Promise<unknown> }
    const provider = {
      async request({ method, params }: { method: string; params?: unknown[] }) {
        const answer = await askWallet(method, params?.[0])
        if (answer === null) throw { code: 4001, message: 'User rejected the request.' }
        return answer
      },
    }
    const info = { uuid: 'test', name: 'Test Wallet', icon: '', rdns: 'org.example.wallet' }
    addEventListener('eip6963:requestProvider', () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })),
    )
  })
}

/** Signs in by the wallet of `addWallet`. */
export async function enterByWallet(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Wallet', exact: true }).click()
  const sign = page.getByRole('button', { name: 'Test Wallet' })
  await sign.click()
  await page.getByRole('alert').waitFor()
  await sign.click()
  await page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
}

/** Waits until the open room hears everything at once. */
export const isLive = (page: Page) => page.locator('main[data-status="live"]').waitFor()

/** What is wrong with the connection; not there while nothing is. */
export const trouble = (page: Page) => page.locator('.connection__connection-strip')

/** Confirms an act in the dialog that its button opened. */
export const confirmAct = (page: Page, action: string, of = ''): Promise<void> =>
  page
    .getByRole('dialog', { name: `${action} ${of}`.trim() })
    .last()
    .getByRole('button', { name: action, exact: true })
    .click()

export async function startPoll(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Attach' }).click()
  await page.getByRole('menuitem', { name: /^Poll/ }).click()
}

/** What a wide header has a button for, and a narrow one an entry of its menu. */
export async function pressInHeader(page: Page, name: string): Promise<void> {
  const button = page.locator('.room-head').getByRole('button', { name, exact: true })
  if (await button.isVisible()) return button.click()
  await page.getByRole('button', { name: 'More about this room' }).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

/** Opens the settings of the open room by its menu, and a part of them. */
export async function openRoomSettings(page: Page, part: string) {
  await page.getByRole('button', { name: 'More about this room' }).click()
  await page.getByRole('menuitem', { name: 'Room settings' }).click()
  const settings = page.getByRole('dialog', { name: 'Room settings' })
  await settings.getByRole('tab', { name: part, exact: true }).click()
  return settings
}

/** One of the ways to a room that are offered beside the channels. */
export async function browse(page: Page, way: string): Promise<void> {
  await page.getByRole('button', { name: 'Browse channels' }).click()
  await page.getByRole('dialog', { name: 'Channels' }).getByRole('button', { name: way }).click()
}

/** The part of the moderators' desk that is turned up. */
export const deskOf = (page: Page) => page.getByRole('tabpanel').getByRole('tabpanel')
