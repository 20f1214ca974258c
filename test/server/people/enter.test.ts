// Modes: embedded, two-nodes, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { admit, type Entry, enter } from '#test/support/enter'
import { inWords, leftBehind } from '#test/support/left-behind'
import { call, connect, heard, type Wallet, wallet } from '#test/support/wallet'

/** What a sign-in leaves that `enter` does not write, and why its people can do without. */
const ofTheDoor = {
  nonces: 'nobody is given a message to sign',
  identities: 'an account without one is opened by its own wallet, and the next sign-in makes it',
  auditLines: 'nobody called an operation',
}
/** What is written as well where people are in alpha, as nothing else but a sign-in brings somebody there. */
const ofAlpha = { members: 'who is a member', room_events: 'that they came', rooms: 'how many there are' }

let server: Booted
let end = () => {}
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

let made = 0
const somebody = () => wallet(`enters ${++made}`)

async function entering(who: Wallet, entry: Entry) {
  const [app] = server.apps
  end()
  if (app) end = admit(server.url, app.node, entry)
  return enter(server.url, who)
}

const leaves = (who: Wallet, entry: Entry) => leftBehind(who.address.toLowerCase(), () => entering(who, entry))

describe('a person of a test is as one who signed in', () => {
  test.each([
    ['somebody new', ['accounts', 'auditLines', 'identities', 'members', 'nonces', 'room_events', 'rooms', 'sessions']],
    ['who is known', ['accounts', 'auditLines', 'identities', 'nonces', 'sessions']],
  ])('%s leaves the rows of a sign-in, but for those that are named here', async (which, all) => {
    const [stranger, inAlpha, written] = [somebody(), somebody(), somebody()]
    if (which === 'who is known')
      for (const who of [stranger, inAlpha, written]) await entering(who, 'through the door')
    else await entering(somebody(), 'in alpha')
    const byDoor = await leaves(stranger, 'through the door')
    const without = (...reasons: object[]) =>
      byDoor.filter(([of]) => !reasons.some((named) => Object.hasOwn(named, of)))
    expect(byDoor.map(([of]) => of)).toEqual(all)
    expect(await leaves(inAlpha, 'in alpha')).toEqual(without(ofTheDoor))
    expect(await leaves(written, 'written')).toEqual(without(ofTheDoor, ofAlpha))
  })

  test('both doors of every node know them, and they refresh and sign out, as one who signed in', async () => {
    const byDoor = await storyOf(somebody(), 'through the door')
    expect(byDoor).toMatchObject({ refreshed: [200, 'SESSION_INVALID'], signedOut: 200 })
    expect(byDoor.then).toEqual(server.urls.flatMap(() => ['SESSION_NOT_FOUND', 'SESSION_NOT_FOUND']))
    expect(await storyOf(somebody(), 'written')).toEqual(byDoor)
    expect(await storyOf(somebody(), 'in alpha')).toEqual(byDoor)
  })
})

/** What is answered to somebody with fresh tokens, until none is good. */
async function storyOf(who: Wallet, entry: Entry) {
  const { sessionToken: first, refreshToken, address } = await entering(who, entry)
  const refresh = () => call(server.url, 'POST /api/auth/session', { refreshToken })
  const atFirst = await shownTo(first)
  const { status, body } = await refresh()
  const second = String(body.sessionToken)
  const later = await shownTo(second)
  const refreshed = [status, (await refresh()).code]
  const { status: signedOut } = await call(server.url, 'POST /api/auth/logout', {}, second)
  const then: (string | null)[] = []
  for (const url of server.urls)
    for (const token of [first, second]) then.push((await call(url, 'GET /api/auth/session', null, token)).code)
  return { shown: inWords(address, [atFirst, later]), refreshed, signedOut, then }
}

/** What the token says, and both doors of every node to who has it. */
async function shownTo(token: string) {
  const { iat, exp, ...claims } = JSON.parse(atob(token.split('.')[1] ?? ''))
  const told: unknown[] = [claims, exp - iat]
  for (const url of server.urls) {
    const socket = connect(url, '/rooms', token)
    told.push(await heard(socket, 'session:ready'))
    socket.disconnect()
    for (const route of ['GET /api/auth/session', 'GET /api/auth/sessions'])
      told.push((await call(url, route, null, token)).body)
  }
  return told
}
