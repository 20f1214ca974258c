// Modes: embedded
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agents } from '#shared/api/agents/agents'
import { knowledge } from '#shared/api/agents/knowledge'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, person } from '#test/support/people'
import { localServer, somewherePublic, webOver } from '#test/support/web'

const bomb = gzipSync(Buffer.alloc(100_000_000))
const secret = 'the canary was asked'
let canary: Awaited<ReturnType<typeof localServer>>
let site: Awaited<ReturnType<typeof localServer>>
let server: Booted
let owner: Person
let agent: string

beforeAll(async () => {
  canary = await localServer((_request, response) => response.end(secret.repeat(20)))
  site = await localServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://site.test')
    if (pathname === '/to') response.writeHead(302, { location: searchParams.get('url') ?? '' }).end()
    else if (pathname === '/bomb')
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(bomb)
    else if (pathname === '/nested')
      response.setHeader('content-type', 'text/html').end('<table><tr><td>'.repeat(130_000))
    else if (pathname === '/image') response.setHeader('content-type', 'image/svg+xml').end('<svg>'.repeat(100))
    else {
      const timer = setInterval(() => response.write('x'.repeat(60_000)), 1)
      response.on('close', () => clearInterval(timer))
    }
  })
  const addresses = {
    'site.test': [somewherePublic],
    'inward.test': ['127.0.0.1'],
    'mixed.test': [somewherePublic, '10.0.0.1'],
  }
  const web = webOver(
    { 'site.test': site.port, 'inward.test': canary.port, 'mixed.test': canary.port },
    { resolve: async (host) => Object.entries(addresses).find(([name]) => name === host)?.[1] ?? [] },
  )
  server = await boot({ nodes: 1, environment: { BETA: 'open' }, services: { web } })
  owner = await person(server, 'owner')
  agent = (await owner.does('rest', agents.create, { name: 'Reader' })).agent.id
})
afterAll(async () => {
  await server.close()
  await Promise.all([canary.close(), site.close()])
})

const inward = () => `https://127.0.0.1:${canary.port}/`
const urls: readonly (readonly [what: string, url: () => string, why: RegExp])[] = [
  ['a host that leads inward', () => 'https://inward.test/', /^The page could not be read$/],
  ['a host with a public and a private address', () => 'https://mixed.test/', /^The page could not be read$/],
  ['a host that is nowhere', () => 'https://nowhere.test/', /^The page could not be read$/],
  ['a redirect inward', () => `https://site.test/to?url=${inward()}`, /^The page could not be read$/],
  [
    'a redirect to a host that leads inward',
    () => 'https://site.test/to?url=https://inward.test/',
    /^The page could not be read$/,
  ],
  [
    'a redirect to plain HTTP',
    () => `https://site.test/to?url=http://127.0.0.1:${canary.port}/`,
    /^The page could not be read$/,
  ],
  ['a gzip bomb', () => 'https://site.test/bomb', /^The page could not be read$/],
  ['an endless page', () => 'https://site.test/endless', /^The page could not be read$/],
  ['an image', () => 'https://site.test/image', /^The page is no text, but image\/svg\+xml$/],
  [
    'a page that costs',
    () => 'https://site.test/nested',
    /^The page (took too long|could not be read|has less than 100 characters of text)$/,
  ],
]

describe.each(over)('T15 and T64 in what an agent knows, over %s', (door) => {
  test.each(urls)('%s', async (_what, url, why) => {
    const { item } = await owner.does(door, knowledge.add, { id: agent, url: url() })
    const refused = await owner.refused(door, knowledge.index, { id: agent, knowledgeId: item.id })
    expect(refused.code).toBe('KNOWLEDGE_FAILED')
    const { item: failed } = await owner.does(door, knowledge.get, { id: agent, knowledge_id: item.id })
    expect(failed).toMatchObject({ status: 'failed', chunk_count: 0 })
    expect(failed.error_message).toMatch(why)
    expect(refused.message).toBe(`Failed to index: ${failed.error_message}`)
    expect(canary.hits).toBe(0)
    await owner.does(door, knowledge.remove, { id: agent, knowledge_id: item.id })
  })
})

describe.each(over)('T15 in the tools of an agent, over %s', (door) => {
  test.each(urls)('%s', async (_what, url) => {
    const tools = [{ id: 's', name: 'S', url: url() }]
    const apis = [{ name: 'S', url: url(), method: 'POST' as const }]
    await owner.does(door, agents.update, { id: agent, mcpServers: tools, apiTools: apis })
    const answers = [
      await owner.tries(door, agents.testTool, { id: agent, serverId: 's' }),
      await owner.tries(door, agents.testTool, { id: agent, apiName: 'S' }),
      await owner.tries(door, agents.detectApi, { url: url() }),
    ]
    expect(JSON.stringify(answers)).not.toContain(secret)
    expect(answers.slice(0, 1)).toMatchObject([{ ok: true, data: { success: false } }])
    expect(canary.hits).toBe(0)
  })
})
