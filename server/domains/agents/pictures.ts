import { Agents } from '#server/domains/agent-state/model'
import { namesFiles } from '#server/domains/files/namers'
import type { Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'

/** Files stay as long as an agent shows them. */
export function tellPictures(node: Node): Stop {
  namesFiles(node, 'agents', async (urls) => {
    const found = await Agents.find({ avatar_url: { $in: [...urls] } }, { avatar_url: 1 }).lean()
    return found.map(({ avatar_url }) => avatar_url)
  })
  return () => {}
}
