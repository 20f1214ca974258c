import { deceptionByAgent, looksIn } from '#server/domains/accounts/names'
import { Agents } from '#server/domains/agent-state/model'
import { AppError } from '#shared/errors'

/**
 * Refuses a name that would deceive, or that is taken for the one of an official agent other than `id`, for an agent that is not official,
 * whoever names it. Throws AGENT_NAME_RESERVED.
 */
export async function refuseDeceptiveName(id: string, name: string): Promise<void> {
  const deception =
    deceptionByAgent(name) ?? ((await looksOfficial(id, name)) ? 'It looks like that of an official agent' : null)
  if (deception !== null)
    throw new AppError('AGENT_NAME_RESERVED', { message: `This name is not allowed. ${deception}` })
}

async function looksOfficial(id: string, name: string): Promise<boolean> {
  const others = { visibility: 'official' as const, _id: { $ne: id } }
  const official = await Agents.find(others).select({ name: 1 }).lean<{ name: string }[]>()
  const looks = new Set(looksIn(name))
  return official.some((agent) => looksIn(agent.name).some((look) => looks.has(look)))
}
