import { addAgentToRoom } from '#server/domains/agents/agent-rooms/memberships'
import { ensureOfficialAgent } from '#server/domains/agents/agents/owned'
import { indexDocuments } from '#server/domains/agents/library/indexing'
import { KnowledgeItems } from '#server/domains/agents/library/model'
import { itemsAtMost, newItem } from '#server/domains/agents/library/new-item'
import type { Node } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { linkTo } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { ownDocuments } from './documents.ts'
import { caretaker, tolerate } from './people.ts'
import { notebook } from './talk/company.ts'

type Page = { url: string; title: string | null; text: string }

interface DemoAgent {
  id: string
  /** How it is made; without what is not said here it is as any new agent. */
  fields: { name: string; personality: string; systemInstructions: string; [field: string]: unknown }
  /** What it knows: its title, where it is read by others, and its pages. */
  known: { title: string; path: string; pages(node: Node): Promise<readonly Page[]> }
}

const id = (place: number) => `de300000-0000-7000-8000-0000000001${String(place).padStart(2, '0')}`

const guide: DemoAgent = {
  id: id(1),
  fields: {
    name: 'Plaza Guide',
    personality: 'Knows the documentation of Plaza, and says where it stands.',
    systemInstructions:
      'You are Plaza Guide. You answer questions about Plaza, the chat server that you run on, from its documentation. Be brief and exact, and say so where the documentation does not tell.',
    avatarEmoji: '🧭',
    useKnowledgeBase: true,
    tags: ['plaza', 'documentation', 'help'],
    suggestedQuestions: [
      'How does a room keep one order on many nodes?',
      'What happens when my connection is lost?',
      'How do I run it with MongoDB and Redis?',
      'How do agents answer in rooms?',
    ],
  },
  known: { title: 'Documentation of Plaza', path: '/docs', pages: ownDocuments },
}

const lobbyPage = linkTo('room', { room: 'alpha' })

/** Keeps the lobby company; people of the demo mention it as `@Pip`. */
const company: DemoAgent = {
  id: id(2),
  fields: {
    name: 'Pip',
    personality: 'Keeps the lobby company: curious, warm and brief.',
    systemInstructions:
      'You are Pip. You keep the people of a chat room company. Answer in two or three sentences, warmly and concretely, as one of them would.',
    avatarEmoji: '🦉',
    useKnowledgeBase: true,
    tags: ['company', 'small talk'],
    suggestedQuestions: ['Why does soup taste better on the second day?', 'Where do swifts sleep?'],
  },
  known: {
    title: 'Notebook',
    path: lobbyPage,
    pages: async ({ settings: { publicUrl } }) =>
      notebook.map(([title, text]) => ({ url: new URL(lobbyPage, publicUrl).href, title, text })),
  },
}

const demoAgents = [guide, company]
const lobby: RoomRef = { type: 'alpha', id: null }

/** The official agents of the demo, as members of the lobby. */
export async function settleAgents(node: Node, signal: AbortSignal): Promise<void> {
  for (const { id, fields, known } of demoAgents) {
    const agent = await ensureOfficialAgent(node, caretaker, fields, id)
    await tolerate(addAgentToRoom(node, caretaker, agent, lobby))
    void know(node, id, known, signal).catch((error: unknown) => {
      if (!signal.aborted) node.logger.warn({ error, agent: id }, 'an agent of the demo knows nothing')
    })
  }
}

async function know(node: Node, agent: string, known: DemoAgent['known'], signal: AbortSignal): Promise<void> {
  const url = new URL(known.path, node.settings.publicUrl)
  const item = newItem({ id: agent, agent, url, title: known.title }, node.now())
  await insertWithinLimit(KnowledgeItems, item, { others: { agent_id: agent }, most: itemsAtMost.official })
  await indexDocuments(node, agent, await known.pages(node), signal)
}

/** A line of the script with mentions of the agents, as rooms take them. */
export const withMentions = (text: string): string =>
  demoAgents.reduce((now, { id, fields }) => now.replace(`@${fields.name}`, `@[${fields.name}](${id})`), text)
