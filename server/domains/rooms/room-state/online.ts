import { z } from 'zod'
import { audiences, type Node } from '#server/kernel/context'

const topic = 'online'
const askedAtOnce = 500
/** The presence of a connection's account. */
export const presenceState = 'presence'

type Presence = 'active' | 'idle'
const Question = z.array(z.string()).max(askedAtOnce)
const Answer = z.record(z.string(), z.enum(['active', 'idle']))

/** Answers other nodes with the accounts connected here. */
export const answerOnline = (node: Node): (() => void) =>
  node.peers.answer(topic, (question) => Object.fromEntries(presencesHere(node, Question.parse(question))))

/** The presence of these accounts on all answering nodes; offline ones are absent. */
export async function presencesOf(node: Node, accounts: readonly string[]): Promise<Map<string, Presence>> {
  const found = presencesHere(node, accounts)
  if (node.nodes.live().size < 2) return found
  const parts = Math.ceil(accounts.length / askedAtOnce)
  const asked = Array.from({ length: parts }, (_, part) =>
    node.peers.ask(topic, accounts.slice(part * askedAtOnce, (part + 1) * askedAtOnce)),
  )
  for (const answer of (await Promise.all(asked)).flat()) {
    const elsewhere = Answer.safeParse(answer).data ?? {}
    for (const [account, presence] of Object.entries(elsewhere))
      if (found.get(account) !== 'active') found.set(account, presence)
  }
  return found
}

function presencesHere(node: Node, accounts: readonly string[]): Map<string, Presence> {
  const found = new Map<string, Presence>()
  for (const account of accounts) {
    const connections = node.live.connectionsOf('/rooms', audiences.account(account))
    if (connections.length === 0) continue
    const isActive = connections.some(({ memory }) => memory.get(presenceState) !== 'idle')
    found.set(account, isActive ? 'active' : 'idle')
  }
  return found
}
