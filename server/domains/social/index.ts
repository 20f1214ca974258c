import { implement } from '#server/kernel/context'
import { social as contract } from '#shared/api/social'
import { block, blocks, unblock } from './blocks.ts'
import { mute, mutes, unmute } from './conversation-mutes.ts'
import { report, reports, review } from './reports.ts'

export const social = implement('social', contract, {
  mutes,
  mute,
  unmute,
  blocks,
  block,
  unblock,
  reports,
  report,
  review,
})
