// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { invitations } from '#shared/api/rooms/invitations'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { loggerInto } from '#test/support/logged'
import { groupOf, over, type Person, person } from '#test/support/people'
import { call } from '#test/support/wallet'

const scale = 1_000

/** `RATE_LIMIT_SCALE` is 1,000 here, and tests loosen guards against guessing as much; these alone are as they are. */
describe('T78: an invitation for somebody else', () => {
  const lines: string[] = []
  let server: Booted
  let owner: Person
  let room: Awaited<ReturnType<typeof groupOf>>
  beforeAll(async () => {
    server = await boot({
      environment: { TRUSTED_PROXIES: '1' },
      change: (platform) => ({
        ...platform,
        logger: loggerInto(lines),
        kv: {
          ...platform.kv,
          slide: (key, limit, ...rest) =>
            platform.kv.slide(key, key.startsWith('guard:invitations') ? limit / scale : limit, ...rest),
        },
      }),
    })
    owner = await person(server, 'invitations: owner')
    room = await groupOf(owner)
  })
  afterAll(() => server.close())
  const link = async () => (await owner.does('rest', invitations.create, { room })).token

  test.each(over)(
    'thirty guesses a minute, whatever the scale; the thirty-first is not looked at, over %s',
    async (door) => {
      const guesser = await person(server, `guesser over ${door}`)
      const token = await link()
      for (let guess = 0; guess < 30; guess++)
        expect((await guesser.refused(door, invitations.read, { token: `${token.slice(2)}${guess}` })).code).toBe(
          'INVITATION_NOT_FOUND',
        )
      for (const declared of [invitations.read, invitations.accept]) {
        const refusal = await guesser.refused(door, declared, { token })
        expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 60 })
      }
      const other = await person(server, `another over ${door}`)
      expect(await other.does(door, invitations.read, { token })).toMatchObject({ is_member: false })
    },
  )

  /** What somebody without an account is answered at an address. */
  const asStranger = async (token: string, from: string) =>
    (await call(server.url, `GET /api/invitations/${token}`, undefined, undefined, { 'x-forwarded-for': from })).body

  test('more than thirty people at one address open a link before they sign in', async () => {
    const token = await link()
    for (let at = 0; at < 31; at++) expect(await asStranger(token, '10.78.0.9')).toMatchObject({ is_member: false })
  })

  test('all at one address, signed in or not, share three hundred guesses a minute', heavy, async () => {
    const from = { 'x-forwarded-for': '10.78.0.1' }
    const crowd = await Promise.all(Array.from({ length: 11 }, (_, at) => person(server, `crowd of guessers ${at}`)))
    const codes: (string | null | undefined)[] = []
    for (const one of crowd)
      for (let guess = 0; guess < 29; guess++)
        codes.push((await one.rest('GET /api/invitations/guess', null, from)).code)
    expect(codes.filter((code) => code === 'INVITATION_NOT_FOUND')).toHaveLength(300)
    expect(codes.filter((code) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(19)
    const token = await link()
    expect(await asStranger(token, '10.78.0.1')).toMatchObject({ error: { code: 'RATE_LIMIT_EXCEEDED' } })
    expect(await asStranger(token, '10.78.0.2')).toMatchObject({ is_member: false })
  })

  test('who is not signed in comes in by no link, known or not', async () => {
    const path = `POST /api/invitations/${await link()}/accept`
    const [known, unknown] = [await call(server.url, path), await call(server.url, 'POST /api/invitations/x/accept')]
    expect([known.status, known.body]).toEqual([401, unknown.body])
  })

  test('a link is in no log, whether it is used, opened as a page, asked for wrongly, or refused', async () => {
    const token = await link()
    const guest = await person(server, 'a logged guest')
    await guest.rest(`GET /api/invitations/${token}`)
    await guest.rest(`GET /API/Invitations/${token}/`)
    await guest.rest(`PATCH /api/invitations/${token}`)
    await guest.rest(`GET /api/invitations/${token}/accept/${token}`)
    await guest.rest(`POST /api/invitations/${token}/accept`)
    await guest.ask('invitation:accept', { token })
    const written = [`/invite/${token}`, `/Invite/${token}`, `/invite/${token}/${token}`, `//invite/${token}`]
    const spoiled = [
      `/invite%2f${token}`,
      `/api//invitations/${token}`,
      `/somewhere/invite/${token}`,
      `/%69nvite/${token}`,
      `/invite/${token}%zz`,
    ]
    for (const path of [...written, ...spoiled]) await fetch(server.url + path, { headers: { accept: 'text/html' } })
    await expect.poll(() => lines.filter((line) => line.includes('/invite/***')).length).toBeGreaterThan(0)
    expect(lines.filter((line) => line.includes(token))).toEqual([])
    expect((await guest.does('rest', rooms.members, { room })).total).toBe(2)
  })

  test('nothing but a token is one: operators, paths and long texts are refused', async () => {
    const guest = await person(server, 'a guest with odd tokens')
    for (const token of [{ $ne: null }, ['x'], 5, null, 'x'.repeat(201), ''])
      expect((await guest.ask('invitation:read', { token })) as object).toMatchObject({
        error: { code: 'VALIDATION_ERROR' },
      })
    for (const token of ['../alpha', '%00', 'value.token_hash', '__proto__'])
      expect((await guest.refused('socket', invitations.read, { token })).code).toBe('INVITATION_NOT_FOUND')
  })

  test('who manages one room takes no link of another back, and sees none', async () => {
    const other = await person(server, 'owner of another room')
    const theirs = await groupOf(other)
    const { invitation, token } = await owner.does('rest', invitations.create, { room })
    expect((await other.refused('rest', invitations.revoke, { room: theirs, id: invitation.id })).code).toBe(
      'NOT_FOUND',
    )
    expect((await other.does('rest', invitations.list, { room: theirs })).invitations).toEqual([])
    await other.does('rest', invitations.accept, { token })
    expect((await other.refused('rest', invitations.list, { room })).code).toBe('FORBIDDEN')
  })
})
