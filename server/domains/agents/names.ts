import { isDeceptiveAgent, looksIn } from '#server/domains/accounts/names'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { isAdmin } from './access.ts'
import { Agents } from './model.ts'

/** Refuses a name that would deceive, or that is taken for the one of an official agent, to all but admins. */
export async function refuseDeceptiveName(node: Node, account: string, name: string): Promise<void> {
  if (!isDeceptiveAgent(name) && !(await looksOfficial(name))) return
  if (!(await isAdmin(node, account))) throw new AppError('VALIDATION_ERROR', { message: 'This name is not available' })
}

async function looksOfficial(name: string): Promise<boolean> {
  const official = await Agents.find({ visibility: 'official' }).select({ name: 1 }).lean<{ name: string }[]>()
  const looks = new Set(looksIn(name))
  return official.some((agent) => looksIn(agent.name).some((look) => looks.has(look)))
}
