import { defineDomain } from '#server/kernel/domain'
import { social as contract } from '#shared/api/moderation/social'
import { block, blocks, mute, mutes, unblock, unmute } from './blocks.ts'
import { evidenceAmong } from './evidence.ts'
import { report, reports, review } from './reports.ts'

export const social = defineDomain(
  contract,
  { mutes, mute, unmute, blocks, block, unblock, reports, report, review },
  { shows: evidenceAmong },
)
