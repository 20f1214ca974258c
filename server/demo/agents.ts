import { readFile } from 'node:fs/promises'
import { addAgentToRoom } from '#server/domains/agents/agent-rooms/memberships'
import { ensureOfficialAgent } from '#server/domains/agents/agents/owned'
import { indexDocuments } from '#server/domains/agents/library/indexing'
import { KnowledgeItems } from '#server/domains/agents/library/model'
import { itemsAtMost, newItem } from '#server/domains/agents/library/new-item'
import { grantDemoModerator } from '#server/domains/moderation/moderation/promote'
import { accountOf, recordSignIn } from '#server/domains/people/accounts/accounts'
import { changeProfile } from '#server/domains/people/accounts/profile-changes'
import { joinAlpha } from '#server/domains/rooms/rooms/alpha'
import type { Node } from '#server/kernel/context'
import { documents } from '#server/kernel/docs'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { AppError } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'

/** A table of requirements, which has some word of every question. */
const passedOver = '/docs/asvs.md'

/** Plaza's own documentation as it ships with the server: read from the disk, without a network. */
async function ownDocuments({ services: { reader }, settings: { publicUrl } }: Node) {
  const read = documents.filter(([path]) => path !== passedOver)
  return Promise.all(
    read.map(async ([path, file]) => {
      const { title, text } = await reader.read('markdown', asProse(await readFile(file, 'utf8')))
      return { url: new URL(path, publicUrl).href, title, text }
    }),
  )
}

/** Lines that were broken for an editor are joined, and rows of tables become lines. */
const asProse = (markdown: string): string =>
  markdown
    .replace(/^\|[\s:|-]+\|$\n?/gm, '')
    .replace(
      /^\|(.*)\|$/gm,
      (_row, cells: string) =>
        `\n${cells
          .split('|')
          .map((cell) => cell.trim())
          .join(': ')}\n`,
    )
    .replace(/([^\n])\n(?=[A-Za-z(`[*"“])/g, '$1 ')

const names = {
  'demo:mira': 'Mira Okafor',
  'demo:tomas': 'Tomás Rey',
  'demo:jun': 'Jun Park',
  'demo:elif': 'Elif Kaya',
  'demo:sam': 'Sam Whitlock',
  'demo:priya': 'Priya Nair',
  'demo:lena': 'Lena Brandt',
  'demo:kofi': 'Kofi Mensah',
}

/** Scripted people, recognizable by their ids. */
export const people: readonly string[] = Object.keys(names)
export const caretaker = 'demo:lena'

export async function settlePeople(node: Node): Promise<void> {
  for (const [id, name] of Object.entries(names)) {
    if (!(await accountOf(id))) {
      await recordSignIn(id, 'passkey', node.now())
      await changeProfile(node, id, { display_name: name })
    }
    await joinAlpha(node, id)
  }
  await grantDemoModerator(node, caretaker)
}

/** A refusal here means that a real user banned a demo person or deleted the message; the demo carries on. */
export async function tolerate<T>(step: Promise<T>): Promise<T | null> {
  try {
    return await step
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}

/** What the agent that keeps the lobby company knows: without a model it quotes from this. */
const notebook: readonly (readonly [title: string, text: string])[] = [
  [
    'Soup',
    'Soup tastes better on the second day because the starch has thickened it and the spices have had a night to spread.',
  ],
  [
    'Bread',
    'A loaf keeps longest cut side down on a wooden board under a cloth; in the fridge it goes stale faster than on the table.',
  ],
  [
    'Rain',
    'The smell of rain after a dry week has a name, petrichor: oils of plants and a little ozone that the first drops throw up.',
  ],
  [
    'Swifts',
    'Swifts sleep while they fly: they climb to two kilometres at dusk and glide, with one half of the brain awake.',
  ],
  [
    'Tea',
    'Green tea wants water of about 75 degrees; boiling water makes it bitter, and a second cup from the same leaves is often the best.',
  ],
  [
    'Tomatoes',
    'A tomato plant on a balcony wants a deep pot, water at the root in the morning, and a little shake at noon when it flowers.',
  ],
  [
    'Sleep',
    'To get up early, begin in the evening: dim the light an hour before, and put the alarm where only your feet can reach it.',
  ],
  [
    'Chess',
    'Against a stronger player of chess, trade pawns and not pieces, keep the king safe, and ask what each of their moves wants.',
  ],
  [
    'Bicycles',
    'Most squeaks of a bicycle come from a dry chain: a drop of oil on each link, a minute of turning, and a cloth for the rest.',
  ],
  [
    'Names',
    'To keep a name in mind, say it aloud once within the first minute and tie it to something that you see at that moment.',
  ],
  ['Company', 'I keep this lobby company: mention me with a question, and everybody sees the answer while I write it.'],
]

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
