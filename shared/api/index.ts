import type { Event } from '#shared/kit/contract'
import { accounts } from './accounts.ts'
import { agentEvents, agents } from './agents.ts'
import { analytics } from './analytics.ts'
import { attendance } from './attendance.ts'
import { betaAccess } from './beta-access.ts'
import { booking, bookingEvents } from './booking.ts'
import { broadcasts } from './broadcasts.ts'
import { bugReports } from './bug-reports.ts'
import { calendar } from './calendar.ts'
import { callEvents, calls } from './calls.ts'
import { chatFolderEvents, chatFolders } from './chat-folders.ts'
import { cluster } from './cluster.ts'
import { contact } from './contact.ts'
import { contactNoteEvents, contactNotes } from './contact-notes.ts'
import { deviceKeys } from './device-keys.ts'
import { email } from './email.ts'
import { epochEvents, epochs } from './epochs.ts'
import { federation } from './federation.ts'
import { friendEvents, friends } from './friends.ts'
import { groupInvitationEvents, groupInvitations } from './group-invitations.ts'
import { identities, identityEvents } from './identities.ts'
import { identity } from './identity.ts'
import { inbox, inboxEvents } from './inbox.ts'
import { installation } from './installation.ts'
import { invitations } from './invitations.ts'
import { inviteCodes } from './invite-codes.ts'
import { invites } from './invites.ts'
import { issues } from './issues.ts'
import { knowledge, knowledgeEvents } from './knowledge.ts'
import { meetingEvents } from './meeting-seats.ts'
import { meetings } from './meetings.ts'
import { messages } from './messages.ts'
import { moderation, moderationEvents } from './moderation.ts'
import { ownData, ownDataEvents } from './own-data.ts'
import { passkeys } from './passkeys.ts'
import { payments } from './payments.ts'
import { phone } from './phone.ts'
import { places } from './places.ts'
import { points, pointsEvents } from './points.ts'
import { polls } from './polls.ts'
import { prices } from './prices.ts'
import { profiles } from './profiles.ts'
import { push } from './push.ts'
import { messageEvents } from './room-events.ts'
import { roomEvents, rooms } from './rooms.ts'
import { scheduling } from './scheduling.ts'
import { serviceTokens } from './service-tokens.ts'
import { sessions } from './sessions.ts'
import { social } from './social.ts'
import { starEvents, stars } from './stars.ts'
import { status } from './status.ts'
import { streamEvents } from './stream-events.ts'
import { streams } from './streams.ts'
import { tokens } from './tokens.ts'
import { uploads } from './uploads.ts'
import { wallet } from './wallet.ts'
import { webhooks } from './webhooks.ts'

/** Every operation a client can ask for. */
export const api = {
  status,
  identity,
  sessions,
  identities,
  federation,
  serviceTokens,
  accounts,
  passkeys,
  deviceKeys,
  epochs,
  rooms,
  invitations,
  groupInvitations,
  messages,
  email,
  phone,
  points,
  invites,
  inviteCodes,
  inbox,
  polls,
  moderation,
  social,
  friends,
  contactNotes,
  stars,
  chatFolders,
  calls,
  push,
  meetings,
  profiles,
  cluster,
  installation,
  broadcasts,
  wallet,
  betaAccess,
  bugReports,
  issues,
  contact,
  prices,
  analytics,
  scheduling,
  calendar,
  booking,
  agents,
  payments,
  knowledge,
  uploads,
  attendance,
  tokens,
  places,
  streams,
  webhooks,
  ownData,
}

/** The events of each domain. Events of rooms belong to `messages`, whose `room:join` subscribes to them. */
export const told = {
  messages: { ...roomEvents, ...messageEvents },
  moderation: moderationEvents,
  inbox: inboxEvents,
  identities: identityEvents,
  friends: friendEvents,
  contactNotes: contactNoteEvents,
  stars: starEvents,
  chatFolders: chatFolderEvents,
  booking: bookingEvents,
  calls: callEvents,
  meetings: meetingEvents,
  groupInvitations: groupInvitationEvents,
  agents: agentEvents,
  knowledge: knowledgeEvents,
  epochs: epochEvents,
  streams: streamEvents,
  points: pointsEvents,
  ownData: ownDataEvents,
} satisfies { [Name in keyof typeof api]?: Readonly<Record<string, Event>> }

/** Every event the server tells, beside those of the connection itself. */
export const events = {
  ...told.messages,
  ...told.moderation,
  ...told.inbox,
  ...told.identities,
  ...told.friends,
  ...told.contactNotes,
  ...told.stars,
  ...told.chatFolders,
  ...told.booking,
  ...told.calls,
  ...told.meetings,
  ...told.groupInvitations,
  ...told.agents,
  ...told.knowledge,
  ...told.epochs,
  ...told.streams,
  ...told.points,
  ...told.ownData,
}
