// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Answers } from '#server/kernel/store/model'
import { type Booted, boot } from '#test/support/boot'
import { befriend, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

let server: Booted
let ada: Person
let bob: Person
let cleo: Person
let dora: Person
beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('creating ada').address } })
  ada = await person(server, 'creating ada')
  bob = await person(server, 'creating bob')
  cleo = await person(server, 'creating cleo')
  dora = await person(server, 'creating dora')
  await befriend(ada, dora)
})
afterAll(() => server.close())

let keys = 0
const newKey = () => `key-${++keys}`
const keyed = (key: string) => ({ 'idempotency-key': key })
const listed = async (who: Person, name: string) => {
  const { body } = await who.rest('GET /api/user/rooms?limit=100')
  return JSON.stringify(body).split(`"${name}"`).length - 1
}
const elsewhere = (who: Person, at: number): Person => ({
  ...who,
  url: server.urls[at % server.urls.length] ?? who.url,
})

/** What creates or charges, each with an input, another one, and what of its answer is new. */
const creations: [
  route: string,
  input: () => object,
  other: () => object,
  made: (body: Record<string, unknown>) => unknown,
][] = [
  [
    'POST /api/groups',
    () => ({ name: 'Once', memberAddresses: [bob.account] }),
    () => ({ name: 'Twice' }),
    ({ group }) => (group as { id: string }).id,
  ],
  [
    'POST /api/channels',
    () => ({ name: `Once ${keys}` }),
    () => ({ name: `Twice ${keys}` }),
    ({ channel }) => (channel as { id: string }).id,
  ],
  [
    'POST /api/dm',
    () => ({ recipientAddress: bob.account }),
    () => ({ recipientAddress: cleo.account }),
    ({ room }) => (room as { id: string }).id,
  ],
  [
    'POST /api/friends/request',
    () => ({ toAddress: bob.account }),
    () => ({ toAddress: cleo.account }),
    ({ request }) => (request as { id: string }).id,
  ],
  [
    'POST /api/users/report',
    () => ({ reportedAddress: bob.account, reportType: 'spam' }),
    () => ({ reportedAddress: cleo.account, reportType: 'scam' }),
    ({ report }) => (report as { id: string }).id,
  ],
  [
    'POST /api/admin/service-tokens',
    () => ({ name: 'A bot', scopes: ['rooms:read'] }),
    () => ({ name: 'B bot', scopes: ['rooms:read'] }),
    ({ token }) => token,
  ],
  [
    'POST /api/phone/send-code',
    () => ({ phoneNumber: '+15005550006' }),
    () => ({ phoneNumber: '+15005550007' }),
    ({ expiresAt }) => expiresAt,
  ],
]

describe('M48: a call that creates is done once for each key', () => {
  test.each(creations)('%s', async (route, input, other, made) => {
    const key = newKey()
    const first = input()
    const answers = await Promise.all(Array.from({ length: 8 }, () => ada.rest(route, first, keyed(key))))
    expect(answers.map(({ status, body }) => [status, made(body)])).toEqual(
      Array(8).fill([200, made(answers[0]?.body ?? {})]),
    )
    const changed = await ada.rest(route, other(), keyed(key))
    expect([changed.status, changed.code]).toEqual([409, 'CONFLICT'])
    expect(made((await ada.rest(route, first, keyed(key))).body)).toEqual(made(answers[0]?.body ?? {}))
    expect((await ada.rest(route, first, keyed('not a key!'))).status).toBe(400)
    expect((await ada.rest(route, { ...first, idempotency_key: key })).body).toEqual(answers[0]?.body)
  })

  test('one group of fifty asked for at once, over every node', async () => {
    const key = newKey()
    const input = { name: 'Fifty at once', memberAddresses: [bob.account, dora.account] }
    const ask = async (at: number): Promise<string | undefined> => {
      const answer = await fetch(`${elsewhere(ada, at).url}/api/groups`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.token}`, ...keyed(key) },
        body: JSON.stringify(input),
      })
      // Whoever has waited too long for the first is told to ask again.
      if (answer.status === 503) return ask(at)
      return ((await answer.json()) as { group?: { id: string } }).group?.id
    }
    const asked = Array.from({ length: 50 }, (_, at) => ask(at))
    const ids = new Set(await Promise.all(asked))
    expect([...ids]).toEqual([expect.any(String)])
    for (const who of [ada, dora]) expect(await listed(who, 'Fifty at once')).toBe(1)
    const { body } = await bob.rest('GET /api/groups/invitations')
    expect(JSON.stringify(body).split('"Fifty at once"')).toHaveLength(2)
  })

  test('a key is its caller’s own, and its operation’s', async () => {
    const key = newKey()
    const [mine, theirs] = [
      await ada.rest('POST /api/groups', { name: 'Mine' }, keyed(key)),
      await bob.rest('POST /api/groups', { name: 'Theirs' }, keyed(key)),
    ]
    expect([mine.status, theirs.status]).toEqual([200, 200])
    expect(JSON.stringify(theirs.body)).not.toContain('Mine')
    expect((await ada.rest('POST /api/channels', { name: 'Also mine' }, keyed(key))).status).toBe(200)
  })

  test('a report over the socket and its repeat over REST are one', async () => {
    const idempotency_key = newKey()
    const input = { reportedAddress: cleo.account, reportType: 'violence' }
    const told = await bob.ask('report:create', { ...input, idempotency_key })
    const again = await bob.rest('POST /api/users/report', input, keyed(idempotency_key))
    expect(again.status).toBe(200)
    expect(told).toMatchObject({ ok: true, data: again.body })
  })

  test('a refusal is not kept: the same call succeeds once it can', async () => {
    const key = newKey()
    const input = { toAddress: bob.account, memo: 'again' }
    await cleo.rest('POST /api/users/block', { userAddress: bob.account })
    expect((await bob.rest('POST /api/friends/request', { toAddress: cleo.account }, keyed(key))).status).toBe(403)
    await cleo.rest('DELETE /api/users/block?userAddress='.concat(bob.account))
    expect((await bob.rest('POST /api/friends/request', { toAddress: cleo.account }, keyed(key))).status).toBe(200)
    expect(input.memo).toBe('again')
  })

  test('a stored answer cannot be read from the database', async () => {
    const key = newKey()
    const { body } = await ada.rest(
      'POST /api/admin/service-tokens',
      { name: 'Sealed bot', scopes: ['rooms:read'] },
      keyed(key),
    )
    const kept = JSON.stringify(await Answers.find({}).lean())
    expect(kept).toContain(key)
    expect(kept).not.toContain(String(body.token))
    expect(kept).not.toContain('Sealed bot')
  })

  test('a claim whose process died is taken over and finished', async () => {
    const key = newKey()
    const input = { name: 'Gone on with', memberAddresses: [dora.account] }
    const first = await ada.rest('POST /api/groups', input, keyed(key))
    const id = (first.body.group as { id: string }).id
    await Answers.updateOne({ creation_id: id }, { $unset: { answer: '' }, $set: { leased_until: new Date(0) } })
    const again = await ada.rest('POST /api/groups', input, keyed(key))
    expect((again.body.group as { id: string }).id).toBe(id)
    expect(await listed(dora, 'Gone on with')).toBe(1)
  })
})
