import { z } from 'zod'
import { call, signIn, wallet } from '#test/support/wallet'
import { memberOf } from './race.ts'

const Made = z.object({ channel: z.object({ id: z.string() }) })

export const blockedWords = Array.from({ length: 500 }, (_, at) => `zq${at.toString(36)}xv`)
export const blockedPatterns = Array.from({ length: 20 }, (_, at) => `q${at}[a-f]{2,4}z+x`)
const moderators = 3
const bans = 200

/** The accounts of the run, signed in. */
export async function people(url: string, count: number): Promise<{ address: string; token: string }[]> {
  const names = Array.from({ length: count }, (_, at) => `bench ${at}`)
  return inParts(names, 8, async (name) => {
    const { address, sessionToken } = await signIn(url, wallet(name))
    return { address, token: sessionToken }
  })
}

/** A typical busy room: with word lists, moderators and bans, and all accounts as members. */
export async function moderatedRoom(
  url: string,
  members: readonly { address: string; token: string }[],
): Promise<string> {
  const owner = members[0]?.token
  const made = await ask(url, 'POST /api/channels', { name: `Bench ${Date.now()}` }, owner)
  const { id } = Made.parse(made).channel
  await inParts(members.slice(1), 8, ({ token }) => ask(url, `POST /api/channels/${id}/join`, {}, token))
  const act = (action: string, fields: object) =>
    ask(url, 'POST /api/moderation/act', { room: { type: 'channel', id }, action, ...fields }, owner)
  const words = [
    ...blockedWords.map((word) => ({ word })),
    ...blockedPatterns.map((word) => ({ word, is_regex: true })),
  ]
  await inParts(words, 8, (patch) => act('word_add', { patch }))
  await inParts(members.slice(1, 1 + moderators), 1, ({ address: target }) => act('promote', { target }))
  const strangers = Array.from({ length: bans }, (_, at) => wallet(`banned ${at}`).address)
  await inParts(strangers, 8, (target) => act('ban', { target, duration: 'permanent' }))
  return id
}

/** Small channels without rules of their own, each with a number of the people as members. */
export function smallRooms(
  url: string,
  people: readonly { token: string }[],
  count: number,
  members: number,
): Promise<string[]> {
  const names = Array.from({ length: count }, (_, at) => `Small ${at} ${Date.now()}`)
  return inParts([...names.entries()], 8, async ([at, name]) => {
    const [owner, ...others] = Array.from({ length: members }, (_, nth) => people[memberOf(at, nth, people.length)])
    const { id } = Made.parse(await ask(url, 'POST /api/channels', { name }, owner?.token)).channel
    for (const other of others) await ask(url, `POST /api/channels/${id}/join`, {}, other?.token)
    return id
  })
}

async function ask(url: string, route: string, input: object, token: string | undefined): Promise<unknown> {
  const { status, body } = await call(url, route, input, token)
  if (status >= 300) throw new Error(`${route} answered ${status}: ${JSON.stringify(body)}`)
  return body
}

async function inParts<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(work))))
  return results
}
