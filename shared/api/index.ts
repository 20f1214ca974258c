import type { Event } from '#shared/kit/contract'
import { agentEvents, agents } from './agents/agents.ts'
import { betaAccess } from './agents/beta-access.ts'
import { knowledge, knowledgeEvents } from './agents/knowledge.ts'
import { uploads } from './media/uploads.ts'
import { booking, bookingEvents } from './meetings/booking.ts'
import { calendar } from './meetings/calendar.ts'
import { callEvents, calls } from './meetings/calls.ts'
import { meetingEvents, meetings } from './meetings/meetings.ts'
import { scheduling } from './meetings/scheduling.ts'
import { moderation, moderationEvents } from './moderation/moderation.ts'
import { social } from './moderation/social.ts'
import { payments } from './payments/payments.ts'
import { prices } from './payments/prices.ts'
import { accounts } from './people/accounts.ts'
import { contact } from './people/contact.ts'
import { contactNoteEvents, contactNotes } from './people/contact-notes.ts'
import { deviceKeys } from './people/device-keys.ts'
import { email } from './people/email.ts'
import { federation } from './people/federation.ts'
import { friendEvents, friends } from './people/friends.ts'
import { identities, identityEvents } from './people/identities.ts'
import { identity } from './people/identity.ts'
import { inviteCodes, invites } from './people/invites.ts'
import { passkeys } from './people/passkeys.ts'
import { phone } from './people/phone.ts'
import { points, pointsEvents } from './people/points.ts'
import { profiles } from './people/profiles.ts'
import { serviceTokens } from './people/service-tokens.ts'
import { sessions } from './people/sessions.ts'
import { status } from './people/status.ts'
import { wallet } from './people/wallet.ts'
import { analytics } from './platform/analytics.ts'
import { broadcasts } from './platform/broadcasts.ts'
import { bugReports } from './platform/bug-reports.ts'
import { cluster } from './platform/cluster.ts'
import { installation } from './platform/installation.ts'
import { issues } from './platform/issues.ts'
import { ownData, ownDataEvents } from './platform/own-data.ts'
import { push } from './platform/push.ts'
import { webhooks } from './platform/webhooks.ts'
import { attendance } from './rooms/attendance.ts'
import { chatFolderEvents, chatFolders } from './rooms/chat-folders.ts'
import { epochEvents, epochs } from './rooms/epochs.ts'
import { groupInvitationEvents, groupInvitations } from './rooms/group-invitations.ts'
import { inbox, inboxEvents } from './rooms/inbox.ts'
import { invitations } from './rooms/invitations.ts'
import { places } from './rooms/location-rooms.ts'
import { messages } from './rooms/messages.ts'
import { polls } from './rooms/polls.ts'
import { messageEvents } from './rooms/room-events.ts'
import { roomEvents, rooms } from './rooms/rooms.ts'
import { starEvents, stars } from './rooms/stars.ts'
import { tokens } from './rooms/tokens.ts'
import { streamEvents } from './streams/stream-events.ts'
import { streams } from './streams/streams.ts'

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
