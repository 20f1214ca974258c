import type { FakeWeb } from '#server/ports/web/fake'
import { agents } from '#shared/api/agents/agents'
import { knowledge } from '#shared/api/agents/knowledge'
import type { Booted } from './boot.ts'
import { type Person, person } from './people.ts'

/** Pages of a web in memory, and agents that know them. */
export function knowers(web: FakeWeb, booted: () => Booted) {
  let made = 0
  const text = (about: string, times = 4) => `${about} `.repeat(times)
  /** A page at an address of its own. */
  const page = (body = text('The canary sings at seven in the old harbour of the town.')) => {
    const url = `https://site${++made}.test/the-page`
    web.pages.set(url, `<title>Page ${made}</title><p>${body}`)
    return url
  }
  const agentOf = async (owner: Person, more: object = {}) =>
    (await owner.does('rest', agents.create, { name: `Agent ${++made}`, useKnowledgeBase: true, ...more })).agent.id
  /** Of somebody new, as nobody has more than five. */
  const fresh = async () => {
    const owner = await person(booted(), `knower ${++made}`)
    return { owner, agent: await agentOf(owner) }
  }
  const added = async (owner: Person, agent: string, url: string, more: object = {}) =>
    (await owner.does('rest', knowledge.add, { id: agent, url, ...more })).item.id
  const known = async (owner: Person, agent: string, url: string, more: object = {}) => {
    const item = await added(owner, agent, url, more)
    await owner.does('rest', knowledge.index, { id: agent, knowledgeId: item })
    return item
  }
  /** How often a page was asked for. */
  const readings = (url: string) => web.asked.filter((asked) => asked.url === url).length
  return { text, page, agentOf, fresh, added, known, readings }
}

/** Something that happens later, when it is let. */
export function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
