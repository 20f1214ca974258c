// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { budgets } from '#server/kernel/limits/budgets'
import type { FileKind, Reader } from '#server/ports/reader/port'
import { localStorage } from '#server/ports/storage/local'
import { fakeWeb } from '#server/ports/web/fake'
import { agents } from '#shared/api/agents/agents'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { ofManyPieces } from '#test/support/picture-bombs'
import { gifOf, jpegOf, pngOf, webpOf } from '#test/support/pictures'
import { soundBombs } from '#test/support/sound-bombs'
import { sounds } from '#test/support/sounds'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-parsing-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const servers: Booted[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function served(reader: Partial<Reader> | undefined, environment = {}): Promise<Booted> {
  const storage = await localStorage(folder)
  const change = reader && ({ reader: { ...noReader, ...reader } } as const)
  const server = await boot({ environment, services: { storage, ...change } })
  servers.push(server)
  return server
}

const noReader: Reader = {
  read: () => Promise.reject(new Error('no document is read here')),
  clean: () => Promise.reject(new Error('no file is read here')),
}

async function send({ url, token }: Person, file: Uint8Array, path = '/api/upload') {
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(file)]), 'x')
  const answer = await fetch(url + path, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body })
  const { code = '', retryAfter = 0 } = (await answer.json()) as { code?: string; retryAfter?: number }
  return { outcome: `${answer.status} ${code}`.trim(), retryAfter }
}

const files: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
  'a JPEG': jpegOf,
  'a PNG': pngOf,
  'a GIF': gifOf,
  'a WebP': webpOf,
  ...sounds,
}

describe('O01: the process of the server reads no byte of a file', () => {
  const doors = ['/api/upload', '/api/user/avatar', '/api/bug-reports/upload'] as const

  test('a file is what the reader says of it, whatever its bytes are', async () => {
    const asked: [FileKind[], string][] = []
    const server = await served({
      clean: async (kinds, file) => {
        asked.push([[...kinds], Buffer.from(file).toString('base64')])
        return file.length === 3 ? { ending: 'png', bytes: new Uint8Array(file) } : null
      },
    })
    const who = await person(server, 'sender')
    for (const make of Object.values(files)) {
      const file = await make()
      expect((await send(who, file)).outcome).toBe('415 UNSUPPORTED_MEDIA_TYPE')
      expect(asked.pop()).toEqual([['picture', 'sound'], file.toString('base64')])
    }
    for (const door of doors) expect((await send(who, Buffer.from('odd'), door)).outcome).toBe('200')
    const [, , ofReport] = asked.splice(0)
    expect(ofReport).toEqual([['picture'], Buffer.from('odd').toString('base64')])
    const imageData = `data:image/png;base64,${Buffer.from('odd').toString('base64')}`
    expect((await who.rest('POST /api/pixel-art/upload', { imageData })).status).toBe(200)
    expect(asked).toEqual([[['picture'], Buffer.from('odd').toString('base64')]])
  })

  test.each([
    ['TIMEOUT', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['UPSTREAM_ERROR', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['SERVICE_UNAVAILABLE', '503 SERVICE_UNAVAILABLE'],
  ] as const)('a reader that fails by %s refuses that file alone: %s', async (code, outcome) => {
    let isAway = true
    const server = await served({
      clean: async (_kinds, file) => {
        if (isAway) throw new AppError(code)
        return { ending: 'png', bytes: new Uint8Array(file) }
      },
    })
    const who = await person(server, 'unlucky')
    expect((await send(who, pngOf())).outcome).toBe(outcome)
    isAway = false
    expect((await send(who, pngOf())).outcome).toBe('200')
  })
})

describe('O01: files that cost are read beside the server, and refused or stored', () => {
  let server: Booted
  let who: Person
  beforeAll(async () => {
    server = await boot({ services: { storage: await localStorage(folder) } })
    who = await person(server, 'attacker')
  })
  afterAll(() => server.close())

  test.each(Object.entries(soundBombs))('%s', heavy, async (_what, make) => {
    expect((await send(who, await make())).outcome).toMatch(/^(413 PAYLOAD_TOO_LARGE|415 UNSUPPORTED_MEDIA_TYPE|200)$/)
    expect((await send(who, pngOf())).outcome).toBe('200')
  })

  test.each(Object.entries(ofManyPieces))('%s', heavy, async (_what, make) => {
    expect((await send(who, make())).outcome).toBe('413 PAYLOAD_TOO_LARGE')
  })
})

describe('O01: who has many files that wait to be read', () => {
  /** A server whose reader answers when it is told to, and how many files wait. */
  async function slow() {
    const held: (() => void)[] = []
    const server = await served(
      {
        clean: (_kinds, file) =>
          new Promise((resolve) => held.push(() => resolve({ ending: 'png', bytes: new Uint8Array(file) }))),
      },
      { RATE_LIMIT_SCALE: '1' },
    )
    const goOn = async (sent: readonly Promise<unknown>[]) => {
      let isOver = false
      const all = Promise.all(sent).finally(() => {
        isOver = true
      })
      await expect.poll(() => held.splice(0).map((answer) => answer()) && isOver, { timeout: 20_000 }).toBe(true)
      return all
    }
    return { server, goOn }
  }
  /** Sends until one is refused, which is answered before those that wait. */
  async function sendMany(who: Person, count: number) {
    const outcomes: string[] = []
    const sent = Array.from({ length: count }, async () => {
      const { outcome, retryAfter } = await send(who, pngOf())
      outcomes.push(`${outcome}${retryAfter > 0 ? ', later' : ''}`)
    })
    return { outcomes, sent }
  }
  const tooMany = '429 RATE_LIMIT_EXCEEDED, later'

  test('is refused one more by account; others are not', async () => {
    const { server, goOn } = await slow()
    const [who, other] = [await person(server, 'hurried'), await person(server, 'innocent')]
    const { most } = budgets.filesOfAccount
    const { outcomes, sent } = await sendMany(who, most + 1)
    await expect.poll(() => outcomes).toEqual([tooMany])
    const innocent = await sendMany(other, 1)
    await goOn([...sent, ...innocent.sent])
    expect(outcomes).toEqual([tooMany, ...Array(most).fill('200')])
    expect(innocent.outcomes).toEqual(['200'])
    const again = await sendMany(who, 1)
    await goOn(again.sent)
    expect(again.outcomes).toEqual(['200'])
  })

  test('is refused one more by address, with as many accounts as it has', async () => {
    const { server, goOn } = await slow()
    const { most } = budgets.filesOfAddress.guest
    const people = await Promise.all(Array.from({ length: 3 }, (_, at) => person(server, `one of many ${at}`)))
    const many = await Promise.all(people.map((one, at) => sendMany(one, at < 2 ? most / 2 : 1)))
    const outcomes = () => many.flatMap((one) => one.outcomes)
    await expect.poll(outcomes).toEqual([tooMany])
    await goOn(many.flatMap(({ sent }) => sent))
    expect(outcomes().sort()).toEqual([...Array(most).fill('200'), tooMany])
  })
})

describe('O99: the process of the server parses no answer of an API', () => {
  const document = JSON.stringify({ openapi: '3.1.0', paths: { '/foxes': { get: { summary: 'All foxes' } } } })
  const web = fakeWeb({
    'https://plain.test/v1': 'no JSON',
    'https://foxes.test/v1': document,
    'https://deep.test/v1': '['.repeat(1024 * 1024),
  })

  async function detective(reader?: Partial<Reader>) {
    const change = reader && ({ reader: { ...noReader, ...reader } } as const)
    const server = await boot({ environment: { BETA: 'open' }, services: { web, ...change } })
    servers.push(server)
    const who = await person(server, 'detective')
    return (url: string) => who.does('rest', agents.detectApi, { url })
  }

  test('an API is what the reader says of it', async () => {
    const detect = await detective({
      read: async (as, bytes) => {
        if (as !== 'api' || new TextDecoder().decode(bytes as Uint8Array) !== 'no JSON') throw new AppError('TIMEOUT')
        return { title: 'openapi', text: 'GET /owls', links: [], base: null }
      },
    })
    expect(await detect('https://plain.test/v1')).toMatchObject({ apiType: 'openapi', schema: 'GET /owls' })
    expect(await detect('https://foxes.test/v1')).toMatchObject({ apiType: 'rest', schema: null })
  })

  test('an answer that is expensive to read is none', async () => {
    const detect = await detective()
    expect(await detect('https://foxes.test/v1')).toMatchObject({ apiType: 'openapi', schema: 'GET /foxes All foxes' })
    expect(await detect('https://deep.test/v1')).toMatchObject({ apiType: 'rest', schema: null })
  })
})
