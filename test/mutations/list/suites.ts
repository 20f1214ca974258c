import type { Suite } from '../mutation.ts'

const unit = (file: string, title?: string): Suite => ({
  project: 'unit',
  file: `test/${file}`,
  ...(title ? { title } : {}),
})

export const log = unit('log/log.test.ts')
export const rule = (name: string): Suite => unit('log/rules.test.ts', name)
export const appending = unit('log/appending.test.ts')
export const headsTold: Suite = { project: 'embedded', file: 'test/server/heads.test.ts', title: 'who is gone' }
export const following = unit('log/following.test.ts')
export const clocks = unit('log/clocks.test.ts')
export const neighbours = unit('log/neighbours.test.ts')
export const leases = unit('log/leases.test.ts')
export const recordsOfLog = unit('log/records.test.ts')
export const ring = unit('log/ring.test.ts')
export const hints = unit('log/hints.test.ts')
export const projection = unit('unit/projection.test.ts')
export const frames = unit('unit/frames.test.ts')
export const settings = unit('unit/settings.test.ts')
export const settingsAreListed: Suite = { project: 'laws', file: 'test/laws/configuration.test.ts' }
export const discovery = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/agent-discovery.test.ts',
  title,
})
export const bookingCards: Suite = {
  project: 'embedded',
  file: 'test/server/agent-scheduling.test.ts',
  title: 'T28',
}
export const bookings = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/booking.test.ts',
  title,
})
export const calendarLinks = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/calendar.test.ts',
  title,
})
export const schedulingSettings = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/scheduling.test.ts',
  title,
})
export const locationRooms = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/location-rooms.test.ts',
  title,
})
export const gates = (title: string): Suite => ({ project: 'embedded', file: 'test/server/gates.test.ts', title })
export const adminProofs = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/admin-proof.test.ts',
  title,
})
export const closedRegistration = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/closed-registration.test.ts',
  title,
})
export const officialChannels = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/official-channels.test.ts',
  title,
})
export const installation = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/installation.test.ts',
  title,
})
export const broadcasts = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/broadcasts.test.ts',
  title,
})
export const welcomed = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/welcome.test.ts',
  title,
})
export const agentEvents = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/agent-events.test.ts',
  title,
})
export const inPoints = (title: string): Suite => ({ project: 'embedded', file: 'test/server/points.test.ts', title })
export const byInvite = (title: string): Suite => ({ project: 'embedded', file: 'test/server/invites.test.ts', title })
export const invitedByAdmins = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/invite-codes.test.ts',
  title,
})
export const slots = unit('unit/slots.test.ts')
export const feed = unit('client/feed.test.ts')
export const outbox = unit('client/outbox.test.ts')
export const pollsOfClient = unit('client/polls.test.ts')
export const poison = unit('log/poison.test.ts')
export const paymentProofs = unit('unit/payment-proofs.test.ts')
export const facilitators = unit('ports/facilitator.test.ts', 'may have charged')
export const toolSessions = unit('ports/tool-servers.test.ts', 'is greeted anew')
export const paidChat = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/paid-chat.test.ts',
  title,
})
export const onChain: Suite = { project: 'embedded', file: 'test/server/paid-chat-chain.test.ts' }
export const raced: Suite = { project: 'store', file: 'test/store/records.test.ts', title: 'M44' }
export const majority: Suite = { project: 'nodes', file: 'test/nodes/majority.test.ts', needsMongo: true }
export const catchUp: Suite = { project: 'embedded', file: 'test/server/catch-up-head.test.ts' }
export const outsiders: Suite = { project: 'embedded', file: 'test/server/outsiders.test.ts' }
export const decisions: Suite = { project: 'embedded', file: 'test/server/decisions.test.ts' }
export const waiting: Suite = { project: 'embedded', file: 'test/server/waiting.test.ts' }
export const stored: Suite = { project: 'store', file: 'test/store/record-order.test.ts' }
export const races = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/moderation-races.test.ts',
  title,
})
export const topic = (title: string): Suite => ({ project: 'embedded', file: 'test/server/topic.test.ts', title })
export const bodies: Suite = {
  project: 'embedded',
  file: 'test/server/stored-bodies.test.ts',
  title: 'in test an entry that says more than its record declares is refused',
}
const content = (title: string): Suite => ({ project: 'embedded', file: 'test/server/content.test.ts', title })
export const attached = content('M01: attachments')
export const besides = content('M01: whatever else')
export const ranks: Suite = { project: 'embedded', file: 'test/server/rights.test.ts', title: 'in a channel, by rank' }
const hostile = (file: string, title: string): Suite => ({ project: 'hostile', file: `test/hostile/${file}`, title })
export const parsing = (title: string): Suite => hostile('parsing.test.ts', title)
export const metered = (title: string): Suite => hostile('budgets.test.ts', title)
export const atDoor = (title: string): Suite => hostile('door.test.ts', title)
export const heldOpen = (title: string): Suite => hostile('open-answers.test.ts', title)
export const invited = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/invitations.test.ts',
  title: `M64: ${title}`,
})
export const invitationEnds = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/group-invitation-ends.test.ts',
  title: `N05: ${title}`,
})
export const succession = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/succession.test.ts',
  title: `O28: ${title}`,
})
export const clients = (title: string): Suite => hostile('connection-slots.test.ts', title)
export const ownMachine = hostile('own-machine.test.ts', 'M03: development powers are for this very machine')
export const starts = hostile('own-machine.test.ts', 'M03: what lets others in')
export const demoRooms = hostile('own-machine.test.ts', 'M03: the rooms of the demo')
export const known = (title: string): Suite => ({ project: 'embedded', file: 'test/server/knowledge.test.ts', title })
export const knownLater = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/knowledge-sync.test.ts',
  title,
})
export const knowledgeGuards = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/knowledge-guards.test.ts',
  title,
})
export const reading = (title: string): Suite => unit('unit/knowledge-reading.test.ts', title)
export const outbound = (title: string): Suite => hostile('outbound.test.ts', title)
export const askers = hostile('letter-shares.test.ts', 'M12')
export const contacts = (title: string): Suite => hostile('contacts.test.ts', title)
export const links = hostile('email.test.ts', 'M15')
export const page = (title: string): Suite => ({ project: 'browser', file: 'test/browser/session.test.ts', title })
export const badInput = (title: string): Suite => hostile('bad-input.test.ts', title)
export const freshProofs = hostile('fresh-proof.test.ts', 'M08')
export const accountsRecords: Suite = { project: 'embedded', file: 'test/server/accounts.test.ts' }
export const suspended: Suite = { project: 'embedded', file: 'test/server/suspended.test.ts' }
export const kindsAreNamedOnce: Suite = { project: 'laws', file: 'test/laws/room-kinds.test.ts' }
export const apart = (title: string): Suite => ({
  project: 'nodes',
  file: 'test/nodes/apart.test.ts',
  title,
  needsMongo: true,
})
export const stateIsOnNodes: Suite = { project: 'laws', file: 'test/laws/node-state.test.ts' }
export const domainsAreBound: Suite = { project: 'laws', file: 'test/laws/domains.test.ts' }
export const startedWork: Suite = { project: 'embedded', file: 'test/server/founding.test.ts' }
export const unlisted: Suite = { project: 'embedded', file: 'test/server/outcomes.test.ts', title: 'ROOM_NOT_FOUND' }
export const writersOfKinds = unit('unit/verdict.test.ts', 'in which moderators alone write')
export const unknownKinds: Suite = { project: 'embedded', file: 'test/server/unknown-kinds.test.ts' }
export const typing: Suite = { project: 'embedded', file: 'test/server/live.test.ts', title: 'tells none' }
export const sight: Suite = {
  project: 'embedded',
  file: 'test/server/moderation-sight.test.ts',
  title: 'of direct conversations to nobody',
}
export const rest = unit('client/rest.test.ts', 'M64')
export const creations: Suite = { project: 'embedded', file: 'test/server/creation.test.ts' }
export const answers: Suite = { project: 'store', file: 'test/store/idempotency.test.ts' }
export const searched: Suite = { project: 'embedded', file: 'test/server/search.test.ts' }
export const searchBlocks: Suite = { project: 'store', file: 'test/store/search-index.test.ts' }
const store = (file: string, title: string): Suite => ({ project: 'store', file: `test/store/${file}`, title })
export const meanwhile = (title: string): Suite => store('meanwhile.test.ts', title)
export const opening = (title: string): Suite => store('opening.test.ts', title)
export const commits = (title: string): Suite => store('commits.test.ts', title)
export const journal = (title: string): Suite => store('journal.test.ts', title)
export const journalDamage = (title: string): Suite => store('journal-damage.test.ts', title)
export const pending = (title: string): Suite => store('pending.test.ts', title)
export const journalFaults = (title: string): Suite => store('journal-faults.test.ts', title)
export const large: Suite = { project: 'kill', file: 'test/store/large.kill.test.ts' }
export const lean = unit('shared/lean.test.ts')
export const wholeAgain = unit('client/live-room.test.ts', 'listeners get each event and each answer')
export const protocols = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/protocols.test.ts',
  title,
})
export const items = (title: string): Suite => unit('unit/items.test.ts', title)
export const wallets = (title: string): Suite => ({ project: 'embedded', file: 'test/server/identity.test.ts', title })
export const streamChat = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/stream-chat.test.ts',
  title,
})
export const streams = (title: string): Suite => ({ project: 'embedded', file: 'test/server/streams.test.ts', title })
export const framed = (title: string): Suite => hostile('frames.test.ts', title)
export const follows = (title: string): Suite => hostile('follows.test.ts', title)
export const lifted = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/moderation-people.test.ts',
  title,
})
export const stopped = (title: string): Suite => ({ project: 'embedded', file: 'test/server/stop.test.ts', title })
export const inside = (title: string): Suite => ({ project: 'embedded', file: 'test/server/call-as.test.ts', title })
export const graveActs = (title: string): Suite => ({
  project: 'browser',
  file: 'test/browser/grave-acts.test.ts',
  title,
})
export const timeline = (title: string): Suite => ({ project: 'browser', file: 'test/browser/timeline.test.ts', title })
export const agents = (title: string): Suite => ({ project: 'embedded', file: 'test/server/agents.test.ts', title })
export const attendanceChannels = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/attendance-channels.test.ts',
  title,
})
export const attendanceKept = (title: string): Suite => ({
  project: 'unit',
  file: 'test/unit/kept-answers.test.ts',
  title,
})
export const dailyTokens = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/agent-tokens.test.ts',
  title,
})
export const openQuestions = (title: string): Suite => served('open-questions', title)
export const agentBlocks = (title: string): Suite => served('agent-blocks', title)
const served = (file: string, title: string): Suite => ({
  project: 'embedded',
  file: `test/server/${file}.test.ts`,
  title,
})
export const storageOf = (title: string): Suite => unit('ports/storage.test.ts', title)
export const verifiedFiles = (title: string): Suite => ({
  project: 'store',
  file: 'test/store/backup-files.test.ts',
  title,
})
export const durable = unit('ports/storage-durability.test.ts', 'a folder')
export const uploadQuotas = (title: string): Suite => served('upload-quotas', title)
export const uploadPace = (title: string): Suite => hostile('upload-pace.test.ts', title)
export const forms = (title: string): Suite => hostile('multipart.test.ts', title)
export const uploadsOf = (title: string): Suite => served('uploads', title)
export const evidenceOf = (title: string): Suite => served('report-evidence', title)
export const uploadedVoice = (title: string): Suite => served('uploads-voice', title)
export const sealedFiles = (title: string): Suite => served('sealed-files', title)
export const mediaLife = (title: string): Suite => served('media-life', title)
export const atLivepeer = (title: string): Suite => unit('ports/livepeer.test.ts', title)
export const atMediaMtx = (title: string): Suite => unit('ports/mediamtx.test.ts', title)
export const livestreams = (title: string): Suite => served('livestreams', title)
export const streamDirectory = (title: string): Suite => served('stream-directory', title)
export const attendanceOf = (title: string): Suite => served('attendance-channels', title)
export const receiptsOf = (title: string): Suite => served('receipts', title)
export const earned = (title: string): Suite => served('earnings', title)
export const toolLimits = (title: string): Suite => served('tool-limits', title)
export const paidInPage = unit('client/paid-chat.test.ts')
export const toolSchemas = unit('unit/tool-schemas.test.ts')
export const mentionLimits = (title: string): Suite => served('mention-limits', title)
export const agentsInRooms = (title: string): Suite => ({
  project: 'embedded',
  file: 'test/server/agents-in-rooms.test.ts',
  title,
})
