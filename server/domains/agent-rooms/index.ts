import type { Actions, Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import type { agentRooms as contract } from '#shared/api/agent-rooms'
import * as actions from './actions.ts'
import { sayWhatWasLeft } from './again.ts'
import { answerMentions } from './follow.ts'
import { beginWhatWasLeft } from './left.ts'
import { listenToWriting } from './writing.ts'

export const agentRoomActions: Actions<typeof contract> = actions

export const startAgentRooms = (node: Node): readonly Stop[] => [
  listenToWriting(node),
  answerMentions(node),
  beginWhatWasLeft(node),
  sayWhatWasLeft(node),
]
