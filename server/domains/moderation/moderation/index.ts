import { buffer } from 'node:stream/consumers'
import type { z } from 'zod'
import { messageOfEvent, recordOf, removedBy } from '#server/domains/events'
import {
  isClosed,
  refuseLateDecision,
  refuseOverruling,
  settleForRoom,
  unchangedFilter,
} from '#server/domains/moderation/social/decisions'
import { settleReport } from '#server/domains/moderation/social/evidence'
import { Reports } from '#server/domains/moderation/social/model'
import { onReport } from '#server/domains/moderation/social/reports'
import { ownFile } from '#server/domains/moderation/verdict/markers'
import { stepsOfTrial, tryPattern } from '#server/domains/moderation/verdict/patterns'
import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { judgeMessage, type MessageDraft, type SenderFacts } from '#server/domains/moderation/verdict/verdict'
import { compileWords } from '#server/domains/moderation/verdict/words'
import { bodyOf, isRowOf, unsignedEntry } from '#server/domains/rooms/events/define'
import { draftOfBody } from '#server/domains/rooms/messages/drafts'
import { messagesOf } from '#server/domains/rooms/messages/pages'
import { keyOf, readRoom } from '#server/domains/rooms/room-state/access'
import { type MessageFact, messageFactOf } from '#server/domains/rooms/room-state/facts'
import { senderFactsOf } from '#server/domains/rooms/room-state/judge-draft'
import { isKnownRoom } from '#server/domains/rooms/room-state/kinds'
import { Flags, Words } from '#server/domains/rooms/room-state/model'
import { presentMessagesBetween } from '#server/domains/rooms/room-state/redaction'
import { type Action, type Actions, audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { createTurnstile } from '#server/kernel/limits/turnstile'
import { nodeState } from '#server/kernel/operate/node-state'
import { retryOnStart } from '#server/kernel/work/every'
import { hintFrom } from '#server/log/hints'
import { chainedRows } from '#server/log/store'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { moderation as contract, logged, queued } from '#shared/api/moderation/moderation'
import type { QueueItem } from '#shared/api/moderation/moderation-records'
import { defaultRules, type Rules } from '#shared/api/moderation/verdict'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done, roomOfKey } from '#shared/kit/primitives'
import { act } from './acts.ts'
import { queueChanged } from './events.ts'
import {
  answerModerators,
  bans,
  entriesFor,
  hasNoModerators,
  inspect,
  moderatorsOnline,
  receivesModeration,
  rulesOf,
  subscribeModerator,
  unsubscribeModerator,
  verify,
  words,
} from './inspect.ts'
import { logEntryOf, performModeration } from './moderate.ts'
import { endDemoGrants } from './promote.ts'
import {
  findItem,
  findReport,
  itemFor,
  itemOfFlag,
  itemSeenBy,
  keyOfItem,
  openItemsFor,
  type StoredItem,
} from './queue-items.ts'
import { removeWord } from './rules.ts'

/** Appends to `global`, so that moderators on every node are notified. */
async function announceItem(node: Node, account: string, item: string): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: account,
    makes: queueChanged,
    judge: () => ({ accept: unsignedEntry(queueChanged, { item }) }),
  })
}

const followReports = (node: Node): void =>
  onReport(node, ({ caller }, id) => announceItem(node, caller.account ?? '', id))

/** Sends an item of the queue, if this row of `global` names one. */
async function sendChangedItem(node: Node, row: Row): Promise<void> {
  const item = isRowOf(row, queueChanged) ? await findItem(bodyOf(row, queueChanged).item) : null
  if (item) await sendItem(node, item)
}

/** Sends to global moderators and those of the room, each as they may see it. */
async function sendItem(node: Node, item: StoredItem): Promise<void> {
  const key = keyOfItem(item)
  const audienceOf = (scope: RoomKey) => node.live.connectionsOf('/moderation', audiences.moderators(scope))
  const listening = new Map([GLOBAL, ...(key === null ? [] : [key])].flatMap(audienceOf).map((one) => [one.id, one]))
  const accounts = new Set([...listening.values()].flatMap(({ account }) => account ?? []))
  for (const account of accounts) {
    const seen = await itemSeenBy(node, account, item)
    if (seen === null) continue
    for (const connection of listening.values())
      if (isSameAccount(connection.account, account)) connection.emit(queued, { item: seen })
  }
}

const namespace = '/moderation'

/** Notifies moderators on this node, and unsubscribes those who lost their rights. */
function followModeration(node: Node): () => void {
  // Entries are sent in order, because their receivers everywhere are looked up first.
  let sending: Promise<unknown> = Promise.resolve()
  const sendToModerators = (key: RoomKey, row: Row) => {
    if (isFlagged(row)) void sendFlag(node, key, row).catch(() => {})
    if (!row.chained || hasNoModerators(key)) return
    const entry = entryOf(key, row)
    node.live.send(logged, audiences.moderators(key), entry)
    if (key !== GLOBAL) sending = sending.then(() => sendToGlobalModerators(node, key, entry)).catch(() => {})
  }
  node.log.onRows((key, rows, isOurs) => {
    for (const row of rows) {
      sendToModerators(key, row)
      if (isOurs && key !== GLOBAL && !hasNoModerators(key) && isForModerators(row)) node.peers.tell(topic, row)
      if (key === GLOBAL) void sendChangedItem(node, row).catch(() => {})
      const account = removedBy(row) ?? (recordOf(row.type)?.changesRights === 'of the target' ? row.target : null)
      if (account !== null) unsubscribeModerator(node, key, account)
    }
  })
  followReports(node)
  // Global moderators also receive rooms that are not open here.
  return node.peers.listen(topic, (word) => {
    const hint = hintFrom({ kind: 'rows', node: '', rows: [word] }, keyIn(word))
    if (hint?.kind !== 'rows') return
    for (const row of hint.rows)
      if (isKnownRoom(row.room) && node.log.headHere(row.room) === null) sendToModerators(row.room, row)
  })
}

const topic = 'moderation'
const keyIn = (word: unknown): RoomKey =>
  typeof word === 'object' && word !== null && 'room' in word && typeof word.room === 'string' ? word.room : ''

const isFlagged = (row: Row) => (messageOfEvent(row)?.body.flagged.length ?? 0) > 0
const isForModerators = (row: Row) => row.chained || isFlagged(row)

const entryOf = (key: RoomKey, row: Row): z.infer<typeof logged.payload> => ({
  room: key === GLOBAL ? null : roomOfKey(key),
  entry: logEntryOf(row),
})

/** Sends to global moderators of this room; subscribers of the room itself have the entry already. */
async function sendToGlobalModerators(node: Node, key: RoomKey, entry: z.infer<typeof logged.payload>): Promise<void> {
  const listening = () =>
    node.live
      .connectionsOf(namespace, audiences.moderators(GLOBAL))
      .filter((connection) => !connection.has(audiences.moderators(key)))
  const accounts = [...new Set(listening().flatMap(({ account }) => account ?? []))]
  if (accounts.length === 0) return
  const receivers = await node.log.ask(key, (view, now) =>
    accounts.filter((account) => receivesModeration(view, account, now)),
  )
  for (const connection of listening())
    if (connection.account !== null && receivers.includes(connection.account)) connection.emit(logged, entry)
}

async function sendFlag(node: Node, key: RoomKey, row: Row): Promise<void> {
  const message = messageOfEvent(row)
  if (!message) return
  const { flagged, text } = message.body
  await sendItem(
    node,
    itemOfFlag({
      message_id: message.id,
      room: key,
      user_address: row.sender,
      content: text,
      flagged_at: new Date(row.at).toISOString(),
      words: flagged,
    }),
  )
}

const entriesAtMost = 100

const queue: Action<typeof contract.queue> = async ({ scope, room, cursor, limit }, context) => {
  if (scope === 'room' && !room) throw new AppError('VALIDATION_ERROR', { message: 'room: required for scope room' })
  const key = scope === 'room' && room ? await keyOf(room) : GLOBAL
  const { account } = signedIn(context)
  const { isAdmin } = await subscribeModerator(context, key)
  const [page, rows] = await Promise.all([
    openItemsFor(context.node, account, key, cursor ?? null, limit),
    key === GLOBAL
      ? entriesFor(context.node, { account, isAdmin }, {}, entriesAtMost)
      : chainedRows(key, {}, entriesAtMost),
  ])
  return {
    ...page,
    logs: rows.map(logEntryOf),
    log_head: rows[0]?.seq ?? 0,
    moderators_online: await moderatorsOnline(context.node, key),
  }
}

const claim: Action<typeof contract.claim> = async ({ item: id, on }, context) => {
  const { item } = await itemFor(context, id)
  const { account } = signedIn(context)
  const claim = { $set: { claimed_by: on ? account : null } }
  const free = { claimed_by: { $in: [null, account] } }
  refuseLateDecision(
    item.kind === 'report'
      ? await Reports.findOneAndUpdate({ _id: id, ...free }, claim).lean()
      : await Flags.findOneAndUpdate({ message_id: id, ...free }, claim).lean(),
  )
  return announceChange(context, id)
}

/** The media of a report, for accounts that may decide it. A hidden report, or one without media, is not found. */
const evidence: Action<typeof contract.evidence> = async ({ item: id }, context) => {
  const { seen: item } = await itemFor(context, id)
  const { storage } = context.node.services
  const key = (await findReport(id))?.evidence_key
  if (!item.evidence || !key) throw new AppError('NOT_FOUND')
  if (!storage) throw new AppError('SERVICE_UNAVAILABLE', { message: 'This server keeps no files' })
  const found = await storage.read(key)
  if (!found) throw new AppError('NOT_FOUND')
  return { ...item.evidence, data: (await buffer(found.bytes)).toString('base64') }
}

const decide: Action<typeof contract.decide> = async ({ item: id, decision, note }, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const { item } = await itemFor(context, id)
  const decidesGlobally = await refuseOverruling(node, account, keyOfItem(item), item)
  const at = new Date(node.now()).toISOString()
  if (item.kind === 'flag') {
    const { claimed_by, state, decided_by, message_content: content } = item
    const asRead = { message_id: id, claimed_by, state, decided_by, content }
    const change = { state: decision, is_active: !isClosed(decision), decided_by: account }
    refuseLateDecision(await Flags.findOneAndUpdate(asRead, { $set: change }).lean())
  } else if (decidesGlobally) {
    const notes = note === undefined ? {} : { admin_notes: note }
    const reviewed = { status: decision, reviewed_by: account, reviewed_at: at, ...notes }
    refuseLateDecision(await settleReport(node, unchangedFilter(item), reviewed))
  } else await settleForRoom(item, { status: decision, by: account, at, note: note ?? null })
  return announceChange(context, id)
}

async function announceChange(context: Context, id: string): Promise<{ item: QueueItem }> {
  await announceItem(context.node, signedIn(context).account, id)
  return { item: (await itemFor(context, id)).seen }
}

const sampled = 20
const page = 200
/** The most steps of one dry run, 0.13 s of a processor; further messages are not tested. */
const mostSteps = 25_000_000
/** A message is charged once more for each of so many steps. */
const stepsOfAMessage = 20_000
/** Dry runs judge one message at a time, with other work in between. */
const turnOf = nodeState(createTurnstile)

/** The verdicts that the last messages would get from the proposal alone. */
const simulate: Action<typeof contract.simulate> = async (
  { room, word, is_regex = false, as_written = false, rules, last },
  context,
) => {
  if (is_regex) await context.charge(stepsOfTrial / stepsOfAMessage)
  const tried = is_regex && word !== undefined ? tryPattern(word, []) : { ok: true as const }
  if (!tried.ok) throw new AppError('VALIDATION_ERROR', { message: tried.reason })
  const proposal = proposalOf(word, is_regex, as_written)
  const { key, also, standing } = await readRoom(context.node, context.caller, room, (view, { now }) => ({
    total: view.total,
    facts: senderFactsOf(view, { node: context.node, account: context.caller.account ?? '', now }),
  }))
  if (!standing?.canManageMods) throw new AppError('FORBIDDEN', { message: 'You may not manage this room' })
  await context.charge(Math.min(last, also.total))
  let stepsOfLast = 0
  const facts: SenderFacts = {
    ...also.facts,
    count({ all }) {
      stepsOfLast = all
    },
    suspended: false,
    ban: null,
    mute: null,
    member: true,
    moderator: false,
    lastMessageAt: null,
    sealed: null,
    // All else is allowed, so only the proposal refuses.
    rules: { ...defaultRules, ...(rules as Partial<Rules> | undefined) },
    words: proposal,
  }
  const { sealed } = also.facts
  const { signal } = context
  const hits: MessageFact[] = []
  let tested = 0
  let steps = 0
  let milliseconds = 0
  for await (const fact of lastMessages(key, also.total, last)) {
    if (isUnreadable(sealed, fact.body.text)) continue
    await turnOf(context.node)()
    if (signal.aborted || steps > mostSteps) break
    stepsOfLast = 0
    const started = performance.now()
    const { verdict } = judgeMessage(testedDraft(fact, facts), { ...facts, sender: fact.sender })
    milliseconds += performance.now() - started
    steps += stepsOfLast
    tested += 1
    if (!verdict.ok) hits.unshift(fact)
    await context.charge(Math.floor(stepsOfLast / stepsOfAMessage))
  }
  return {
    tested,
    hits: hits.length,
    authors: new Set(hits.map(({ sender }) => sender)).size,
    sample: await messagesOf(key, hits.slice(-sampled), true),
    milliseconds: Math.round(milliseconds * 100) / 100,
  }
}

/** The draft of a sent message, without the foreign attachments of older versions, which no proposal refuses. */
function testedDraft({ body, sender }: MessageFact, { storage: { publicUrl } }: SenderFacts): MessageDraft {
  const draft = draftOfBody(body)
  return { ...draft, attachments: draft.attachments.filter(({ url }) => ownFile(url, { publicUrl, sender }) !== null) }
}

function proposalOf(given: string | undefined, is_regex: boolean, as_written: boolean) {
  if (given === undefined) return []
  const word = is_regex ? given : given.toLowerCase()
  return [compileWords([{ id: 'proposal', word, action: 'block', scope: 'room', is_regex, as_written }])]
}

/** Newest first. */
async function* lastMessages(key: string, total: number, last: number): AsyncGenerator<MessageFact> {
  const from = Math.max(1, total - last + 1)
  for (let to = total; to >= from; to -= page)
    for (const row of (await presentMessagesBetween(key, Math.max(from, to - page + 1), to)).reverse()) {
      const fact = messageFactOf(row)
      if (!fact.body.deleted) yield fact
    }
}

const actions: Actions<typeof contract> = {
  act,
  async removeWord({ id }, context) {
    const word = await Words.findOne({ word_id: id, is_active: true }, { room: 1 }).lean()
    if (!word) throw new AppError('NOT_FOUND', { message: 'Word not found' })
    const input = { room: null, action: 'word_remove' as const, reason: null, patch: { word_id: id } }
    await performModeration(
      context,
      word.room,
      { account: signedIn(context).account, action: 'word_remove' },
      removeWord(input),
    )
    return done
  },
  inspect,
  verify,
  rules: rulesOf,
  bans,
  words,
  simulate,
  queue,
  claim,
  decide,
  evidence,
}

export const moderation = defineDomain(contract, actions, {
  async start(node) {
    const stops = [followModeration(node), answerModerators(node)]
    if (!node.settings.demo) await retryOnStart(() => endDemoGrants(node))
    return stops
  },
})
