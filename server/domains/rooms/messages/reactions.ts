import { deceptionBy } from '#server/domains/people/accounts/names'
import { keyOf } from '#server/domains/rooms/room-state/access'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/entries'
import { reactionChanged } from '#server/domains/rooms/room-state/events/messages'
import { muteIn, reactedIn } from '#server/domains/rooms/room-state/facts'
import { refuseRemark } from '#server/domains/rooms/room-state/judge-draft'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { countsBySign, signForm } from '#shared/kit/reaction-sign'
import { presentMessage, touchableMessage } from './touchable-message.ts'

const maxEmojis = 20

export const react: Action<typeof contract.react> = (input, context) => reactTo(context, input)

type Reaction = Parameters<typeof react>[0]

/** Adds or removes the caller's reaction, or toggles it. */
export async function reactTo(context: Context, { room, id, emoji, on, client_action_id }: Reaction) {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  let counts: { [emoji: string]: number } = {}
  let isOn = on ?? true
  const outcome = await context.node.log.act(key, {
    sender: account,
    cid: client_action_id,
    makes: reactionChanged,
    isRepeat: (_row, body) => body.id === id && signForm(body.emoji) === emoji && (on ?? body.on) === body.on,
    judge: (view, now) => {
      const mine = reactedIn(view, id, account)?.emojis ?? []
      const mute = muteIn(view, account, now)
      const message = presentMessage(touchableMessage(view, account, id, now))
      if (mute) throw new AppError('MUTED', { details: { until: mute.muted_until } })
      // Older versions stored several forms of a sign, and so several reactions of one person.
      const others = mine.filter((one) => signForm(one.emoji) !== emoji)
      const had = mine.length - others.length
      isOn = on ?? had === 0
      counts = countsBySign(message.body.reactions)
      if (had > 0 === isOn) return { already: null }
      if (isOn) {
        refuseDeception(emoji)
        refuseRemark(view, emoji, { node: context.node, account, now })
      }
      if (isOn && !(emoji in counts) && Object.keys(counts).length >= maxEmojis)
        throw new AppError('CONFLICT', { message: `A message takes at most ${maxEmojis} different reactions` })
      counts = withCount(counts, emoji, (counts[emoji] ?? 0) + (isOn ? 1 : -had))
      const at = new Date(now).toISOString()
      const after = isOn ? [...others, { id: newId(), emoji, at }] : others
      return { accept: entryOf(view, actor, reactionChanged, { id, emoji, on: isOn, counts, mine: after }) }
    },
  })
  if (!outcome.row) return { counts, on: isOn, seq: outcome.view.seq }
  return { counts: countsBySign(outcome.body.counts), on: outcome.body.on, seq: outcome.row.seq }
}

/** A reaction's text is displayed beside others, as a name is. */
function refuseDeception(emoji: string): void {
  const deception = /\p{L}/u.test(emoji) ? deceptionBy(emoji) : null
  if (deception)
    throw new AppError('VALIDATION_ERROR', {
      message: `This reaction is not allowed. ${deception}`,
      details: { path: 'emoji' },
    })
}

function withCount(counts: { [emoji: string]: number }, emoji: string, value: number): { [emoji: string]: number } {
  const { [emoji]: _, ...rest } = counts
  return value > 0 ? { ...counts, [emoji]: value } : rest
}
