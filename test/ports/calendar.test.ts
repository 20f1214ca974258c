import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { googleCalendars } from '#server/ports/calendar/google'
import { type Calendars, NoAccess } from '#server/ports/calendar/port'
import { openCalendarProvider } from '#test/support/providers'

const redirectUri = 'https://plaza.test/back'
/** SHA-256 of `verifier`. */
const challenge = 'iMnq5o6zALKXGivsnlom_0F5_WYda32GHkxlV7mq7hQ'
const noon = Date.parse('2026-12-01T12:00:00Z')
const hour = 3_600_000
const day = { start: noon - 12 * hour, end: noon + 12 * hour }
const busy = [{ start: noon, end: noon + hour }]
const event = { id: 'abcdef0123', title: 'Tea', description: 'About tea', start: noon, end: noon + hour }
const never = new AbortController().signal

let provider: Awaited<ReturnType<typeof openCalendarProvider>>
beforeAll(async () => {
  provider = await openCalendarProvider([{ start: '2026-12-01T13:00:00+01:00', end: '2026-12-01T13:00:00Z' }])
})
beforeEach(() => Object.assign(provider, { mood: 'well', scope: null, isEnded: false }))
afterAll(() => provider.close())

const google = (secret = 'a secret') =>
  googleCalendars(
    { id: 'client', secret },
    {
      askUrl: `${provider.url}/ask`,
      tokenUrl: `${provider.url}/token`,
      revokeUrl: `${provider.url}/revoke`,
      apiUrl: `${provider.url}/api`,
    },
  )
const fake = fakeCalendars()
fake.kept.set('good', busy)

const connect = async (calendars: Calendars) => {
  calendars.askAt({ state: 'a state', challenge, redirectUri })
  return calendars.exchange('good', 'verifier', redirectUri)
}

const subjects = {
  'the fake': {
    open: () => fake,
    fail(how: typeof fake.away) {
      fake.away = how
    },
    end: () => void fake.ended.add('good'),
    events: () => [...(fake.events.get('good')?.keys() ?? [])],
  },
  Google: {
    open: google,
    fail(how: typeof fake.away) {
      provider.mood = how === null ? 'well' : how === 'TIMEOUT' ? 'silent' : 'failing'
    },
    end() {
      provider.isEnded = true
    },
    events: () => [...provider.events.keys()],
  },
}

describe.each(Object.entries(subjects))('the port of calendars, by %s', (_name, { open, fail, end, events }) => {
  test('sends somebody to be asked, and opens what they have allowed', async () => {
    const calendars = open()
    const { searchParams } = new URL(calendars.askAt({ state: 'a state', challenge, redirectUri }))
    expect(searchParams.get('state')).toBe('a state')
    const grant = await calendars.exchange('good', 'verifier', redirectUri)
    expect(grant).toMatchObject({ calendarId: 'primary', email: expect.stringContaining('@') })
    expect(grant.seconds).toBeGreaterThan(3_000)
    expect(await calendars.busy(grant, day, never)).toEqual(busy)
    const { accessToken } = await calendars.refresh(grant.refreshToken)
    expect(await calendars.busy({ ...grant, accessToken }, day, never)).toEqual(busy)
  })

  test('writes an event once, and takes it out once', async () => {
    const calendars = open()
    const grant = await connect(calendars)
    for (let time = 0; time < 2; time++) await calendars.insert(grant, event)
    expect(events()).toEqual([event.id])
    for (let time = 0; time < 2; time++) await calendars.remove(grant, event.id)
    expect(events()).toEqual([])
  })

  test('says where a code or a verifier is good for nothing', async () => {
    const calendars = open()
    calendars.askAt({ state: 'a state', challenge, redirectUri })
    await expect(calendars.exchange('denied', 'verifier', redirectUri)).rejects.toThrow(NoAccess)
    await expect(calendars.exchange('good', 'another', redirectUri)).rejects.toThrow(NoAccess)
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)('throws %s where there is no answer', async (how) => {
    const calendars = open()
    const grant = await connect(calendars)
    fail(how)
    await expect(calendars.busy(grant, day, never)).rejects.toMatchObject({ code: how })
    await expect(calendars.refresh(grant.refreshToken)).rejects.toMatchObject({ code: how })
    fail(null)
    expect(await calendars.busy(grant, day, never)).toEqual(busy)
  })

  test('throws the reason of a signal', async () => {
    const calendars = open()
    const grant = await connect(calendars)
    await expect(calendars.busy(grant, day, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  })

  test('says where access is over', async () => {
    const calendars = open()
    const grant = await connect(calendars)
    end()
    await expect(calendars.busy(grant, day, never)).rejects.toThrow(NoAccess)
    await expect(calendars.refresh(grant.refreshToken)).rejects.toThrow(NoAccess)
  })
})

describe('Google', () => {
  test('is asked by the code flow with PKCE, for no more than busy times and events of ours', () => {
    const asked = new URL(google().askAt({ state: 'a state', challenge, redirectUri }))
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      client_id: 'client',
      redirect_uri: redirectUri,
      response_type: 'code',
      scope:
        'openid email https://www.googleapis.com/auth/calendar.freebusy https://www.googleapis.com/auth/calendar.events.owned',
      state: 'a state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      access_type: 'offline',
      prompt: 'consent',
    })
  })

  test('that was not allowed all is no access', async () => {
    provider.scope = 'openid email'
    await expect(connect(google())).rejects.toThrow(NoAccess)
  })

  test('takes back what was allowed, once', async () => {
    const { refreshToken } = await connect(google())
    await google().revoke(refreshToken)
    expect(provider.revoked.at(-1)).toBe(refreshToken)
    provider.isEnded = true
    await google().revoke(refreshToken)
  })

  test('that refuses this client says no word of what it answers', async () => {
    const refusal = await connect(google('another secret')).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect(String((refusal as Error).stack)).not.toContain('secret')
    const { accessToken, calendarId } = await connect(google())
    const opened = { accessToken: `${accessToken}!`, calendarId }
    const over = await google()
      .busy(opened, day, never)
      .catch((error: unknown) => error)
    expect(String((over as Error).stack)).not.toContain('secret words')
  })

  test.each(['failing', 'junk', 'endless', 'elsewhere', 'lost'] as const)('that is %s is 502', async (mood) => {
    const grant = await connect(google())
    provider.mood = mood
    const tries = [
      () => connect(google()),
      () => google().refresh(grant.refreshToken),
      () => google().busy(grant, day, never),
    ]
    for (const attempt of tries) await expect(attempt()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', status: 502 })
  })
})
