import type { SenderFacts } from '#server/domains/moderation/verdict/verdict'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import type { Node } from '#server/kernel/context'
import type { View } from '#server/log/types'
import { isSameAccount } from '#shared/kit/accounts'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo, isForModerators, roomKinds } from '#shared/kit/room-kinds'
import { isUnlisted, mayRead } from './access.ts'
import { wordJudgingOf } from './blocked-words.ts'
import { type BanFact, banIn, blocksIn, lastMessageIn, muteIn, roomIn, roomRefOf, rulesIn, sealingOf } from './facts.ts'
import { isSuspended, type Standing, standingOf } from './standing.ts'

/** The sender of a judged draft. */
export interface Sender {
  node: Node
  account: string
  /** Milliseconds on the log's clock. */
  now: number
  /** Given if the caller has it already. */
  standing?: Standing
  /** URLs in the sender's folder without a stored file. */
  missing?: ReadonlySet<string>
}

const nothing: ReadonlySet<string> = new Set()
const until = (time: string | null) => ({ until: time === null ? null : Date.parse(time) })

/** The facts about a sender in a room, on which every verdict depends. */
export function senderFactsOf(view: View, sender: Sender): SenderFacts {
  const { node, account, now, standing = standingOf(view, account), missing = nothing } = sender
  const { type } = roomRefOf(view)
  const ban = banIn(view, account, now)
  const mute = muteIn(view, account, now)
  const rules = rulesIn(view)
  return {
    sealed: sealingOf(view),
    forModerators: isForModerators(type) || isPlazaConversation(view, account),
    now,
    ahead: Math.max(0, now - node.now()),
    judgedSeq: mayCount(view, standing, ban) ? view.seq : 0,
    suspended: isSuspended(view, account),
    ban: ban && until(ban.banned_until),
    blocked: blocksIn(view).length > 0,
    // Writing makes the sender a member.
    member: standing.isMember || roomKinds[type].writingJoins,
    archived: roomIn(view)?.is_active === false,
    mute: mute && until(mute.muted_until),
    moderator: standing.isModerator,
    rules,
    ...wordJudgingOf(node, view),
    lastMessageAt: rules.slow_mode_seconds > 0 ? lastMessageIn(view, account, now) : null,
    sender: account,
    storage: { publicUrl: node.settings.storageUrl, missing },
  }
}

/** A sender who may not read a room must not learn its length. */
function mayCount(view: View, standing: Standing, ban: BanFact | null): boolean {
  const room = roomIn(view)
  if (ban !== null || room === null) return false
  return standing.isMember || (!isUnlisted(view, room) && mayRead(view, standing))
}

/** Nobody reads answers in Plaza's conversation with this account. */
function isPlazaConversation(view: View, account: string): boolean {
  const { type, id } = roomRefOf(view)
  return isBetweenTwo(type) && !isSameAccount(account, plazaAccount) && peersOf(id).includes(plazaAccount)
}
