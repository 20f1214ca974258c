import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import type { Node } from '#server/kernel/context'
import type { Model, Part, Question } from '#server/ports/model/port'
import { AppError } from '#shared/errors'

/** Characters per token, for models that do not report tokens. */
const charactersPerToken = 4

const tokensOf = (characters: number) => Math.ceil(characters / charactersPerToken)

const lengthOf = ({ turns, tools = [], called = [] }: Question): number =>
  turns.reduce((sum, { content }) => sum + content.length, 0) +
  (tools.length > 0 ? JSON.stringify(tools).length : 0) +
  called.reduce((sum, { call, result }) => sum + call.arguments.length + result.length, 0)

/** The parts of an answer. Its tokens are counted however it ends: as reported, or by length. */
export async function* countedAnswer(
  model: Model,
  question: Question,
  signal: AbortSignal,
  count: (tokens: number) => void,
): AsyncGenerator<Part> {
  let written = 0
  let end: (Part & { type: 'end' }) | null = null
  try {
    for await (const part of model.answer(question, signal)) {
      if (part.type === 'text') written += part.text.length
      if (part.type === 'call') written += part.call.arguments.length
      if (part.type === 'end') end = part
      yield part
    }
  } finally {
    count((end?.inputTokens ?? tokensOf(lengthOf(question))) + (end?.outputTokens ?? tokensOf(written)))
  }
}

type Chosen = Pick<StoredAgent, 'model'>

/** The models that agents can have; the first is that of the server. */
export const modelsOf = ({ services: { model } }: Pick<Node, 'services'>): readonly Model[] =>
  model ? [model, ...(model.others ?? [])] : []

const modelOf = (node: Pick<Node, 'services'>, agent: Chosen): Model | undefined => {
  const models = modelsOf(node)
  // The chosen one may be configured no more.
  return models.find(({ name }) => name === agent.model) ?? models[0]
}

/** The model of an agent. Throws without one. */
export function agentModel(node: Pick<Node, 'services'>, agent: Chosen): Model {
  const model = modelOf(node, agent)
  if (!model) throw new AppError('SERVICE_UNAVAILABLE', { message: 'No model is configured here' })
  return model
}

export const modelNameOf = (node: Pick<Node, 'services'>, agent: Chosen): string => modelOf(node, agent)?.name ?? 'none'
