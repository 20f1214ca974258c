import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { textDraft } from '#server/domains/moderation/verdict/content'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { isFound } from '#server/domains/people/accounts/found'
import { namesOfPeople } from '#server/domains/people/accounts/profiles'
import { judgeChange } from '#server/domains/rooms/room-state/judge-draft'
import { type Actions, type Context, type Node, signedIn } from '#server/kernel/context'
import { upsert } from '#server/ports/database/port'
import { type Board, boardTypes, type profileBoard as contract } from '#shared/api/people/profile-board'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { alpha, roomKey } from '#shared/kit/room-key'
import { type StoredWidget, type StoredWidgetEntry, WidgetEntries } from './model.ts'
import { pageOf } from './pages.ts'

const entriesShown = 50
const entriesOfPerson = 5
const entriesAtMost = 500
const writesInHour = 20
const choicesInHour = 120
const hourSeconds = 3_600

/** Loads a widget that the caller may see, of an account that is found. Throws NOT_FOUND. */
async function widgetSeenBy({ caller }: Context, owner: string, id: string): Promise<StoredWidget> {
  const widget = (await pageOf(owner))?.widgets?.find((one) => one.id === id)
  const isBoard = boardTypes.some((type) => type === widget?.widget_type)
  const isOwn = isSameAccount(owner, caller.account)
  if (!widget || !isBoard || !(isOwn || (widget.is_visible && (await isFoundAccount(owner)))))
    throw new AppError('NOT_FOUND')
  return widget
}

const isFoundAccount = async (owner: string): Promise<boolean> => {
  const account = await accountOf(owner)
  return account !== null && isFound(account)
}

/** Blocks hold on both sides. */
async function refuseBlocked(account: string, owner: string): Promise<void> {
  if (await areBlocked(account, owner)) throw new AppError('BLOCKED')
}

async function refuseMany({ node }: Context, account: string, what: string, most: number): Promise<void> {
  if (!(await node.limits.guard(`profile-${what}`, account, most, hourSeconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

/** Such a text could also be said in alpha, whose rules and bans it meets. */
const refuseUnsayable = (node: Node, account: string, text: string): Promise<unknown> =>
  node.log.ask(roomKey(alpha), (view, now) => judgeChange(view, textDraft('text', text), { node, account, now }))

/** The choices that a widget offers. */
function choicesOf({ widget_type, config }: StoredWidget): readonly string[] {
  const listed = (name: string): unknown[] => (Array.isArray(config[name]) ? (config[name] as unknown[]) : [])
  const found =
    widget_type === 'poll'
      ? listed('options').map((one) => (one as { id?: unknown }).id)
      : widget_type === 'reaction_wall'
        ? listed('allowedEmojis')
        : []
  return found.filter((one) => typeof one === 'string')
}

const isOver = ({ config }: StoredWidget, now: number) =>
  typeof config.endDate === 'string' && Date.parse(config.endDate) <= now

async function boardOf(node: Node, owner: string, widget: StoredWidget, account: string | null): Promise<Board> {
  const { id: widget_id, widget_type } = widget
  const choices = choicesOf(widget)
  const [found, counted, own, visitors] = await Promise.all([
    widget_type === 'guestbook'
      ? WidgetEntries.find({ widget_id, kind: 'entry' })
          .sort({ created_at: -1, _id: -1 })
          .limit(entriesShown)
          .lean<StoredWidgetEntry[]>()
      : [],
    Promise.all(choices.map((choice) => WidgetEntries.countDocuments({ widget_id, kind: 'choice', choice }))),
    account === null || choices.length === 0
      ? []
      : WidgetEntries.find({ widget_id, kind: 'choice', author: account }).lean<StoredWidgetEntry[]>(),
    widget_type === 'visitor_counter' ? WidgetEntries.countDocuments({ owner, kind: 'visit' }) : 0,
  ])
  return {
    entries: await renderEntries(node, found),
    counts: Object.fromEntries(choices.map((choice, at) => [choice, counted[at] ?? 0])),
    own: own.flatMap(({ choice }) => (choice !== undefined && choices.includes(choice) ? [choice] : [])),
    visitors,
  }
}

async function renderEntries(node: Node, entries: readonly StoredWidgetEntry[]) {
  const names = await namesOfPeople(node, [...new Set(entries.map(({ author }) => author))])
  return entries.map(({ _id: id, author, text = '', created_at }) => ({
    id,
    author_address: author,
    author_name: names.get(author) ?? '',
    text,
    created_at: created_at.toISOString(),
  }))
}

export const boardActions: Actions<typeof contract> = {
  async board({ owner, widget_id }, context) {
    const widget = await widgetSeenBy(context, owner, widget_id)
    return { board: await boardOf(context.node, owner, widget, context.caller.account) }
  },

  async sign({ owner, widget_id, text }, context) {
    const { account } = signedIn(context)
    const { node, creationId: _id } = context
    const { widget_type } = await widgetSeenBy(context, owner, widget_id)
    if (widget_type !== 'guestbook') throw new AppError('NOT_FOUND')
    await refuseBlocked(account, owner)
    await refuseUnsayable(node, account, text)
    await refuseMany(context, account, 'entries', writesInHour)
    const inWidget = { widget_id, kind: 'entry' as const }
    if ((await WidgetEntries.countDocuments({ ...inWidget, author: account })) >= entriesOfPerson)
      throw new AppError('VALIDATION_ERROR', { message: `At most ${entriesOfPerson} entries of a person` })
    if ((await WidgetEntries.countDocuments(inWidget)) >= entriesAtMost)
      throw new AppError('VALIDATION_ERROR', { message: 'This guestbook is full' })
    const entry = { _id, owner, ...inWidget, author: account, text: text.trim(), created_at: new Date(node.now()) }
    await WidgetEntries.create(entry)
    const [shown] = await renderEntries(node, [entry])
    if (!shown) throw new AppError('INTERNAL_ERROR')
    return { entry: shown }
  },

  async removeEntry({ id }, context) {
    const { account } = signedIn(context)
    const own = { _id: id, kind: 'entry' as const, $or: [{ author: account }, { owner: account }] }
    if ((await WidgetEntries.deleteOne(own)).deletedCount === 0) throw new AppError('NOT_FOUND')
    return done
  },

  async choose({ owner, widget_id, choice, is_on }, context) {
    const { account } = signedIn(context)
    const { node } = context
    const widget = await widgetSeenBy(context, owner, widget_id)
    if (!choicesOf(widget).includes(choice)) throw new AppError('NOT_FOUND')
    await refuseBlocked(account, owner)
    if (isOver(widget, node.now())) throw new AppError('VALIDATION_ERROR', { message: 'This poll has ended' })
    await refuseMany(context, account, 'choices', choicesInHour)
    const mine = { widget_id, kind: 'choice' as const, author: account }
    const isSingle = widget.widget_type === 'poll' && widget.config.allowMultiple !== true
    if (is_on && isSingle) await WidgetEntries.deleteMany({ ...mine, choice: { $ne: choice } })
    const _id = `${widget_id} ${account} ${choice}`
    if (is_on) await insertOnce({ _id, owner, ...mine, choice, created_at: new Date(node.now()) })
    else await WidgetEntries.deleteOne({ _id })
    return { board: await boardOf(node, owner, widget, account) }
  },

  async visit({ owner }, context) {
    const { account } = signedIn(context)
    if (isSameAccount(owner, account)) return done
    if (!(await isFoundAccount(owner))) throw new AppError('NOT_FOUND')
    await refuseBlocked(account, owner)
    const created_at = new Date(context.node.now())
    await insertOnce({
      _id: `visit ${owner} ${account}`,
      owner,
      widget_id: '',
      kind: 'visit',
      author: account,
      created_at,
    })
    return done
  },
}

const insertOnce = ({ _id, ...entry }: StoredWidgetEntry) =>
  upsert(() => WidgetEntries.updateOne({ _id }, { $setOnInsert: entry }, { upsert: true }))

/** What was written in a widget that is gone. */
export const forgetBoard = (owner: string, kept: readonly string[]): PromiseLike<unknown> =>
  WidgetEntries.deleteMany({ owner, kind: { $ne: 'visit' }, widget_id: { $nin: [...kept] } })
