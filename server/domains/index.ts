import type { Domain } from '#server/kernel/domain'
import type { api } from '#shared/api/index'
import { agents } from './agents/agents/index.ts'
import { betaAccess } from './agents/agents/owned.ts'
import { knowledge } from './agents/knowledge/index.ts'
import { uploads } from './media/uploads/index.ts'
import { booking } from './meetings/booking/index.ts'
import { calendar } from './meetings/calendar/index.ts'
import { calls } from './meetings/calls/index.ts'
import { meetings } from './meetings/meetings/index.ts'
import { scheduling } from './meetings/scheduling/index.ts'
import { moderation } from './moderation/moderation/index.ts'
import { social } from './moderation/social/index.ts'
import { payments } from './payments/paid-chat/index.ts'
import { prices } from './payments/prices/index.ts'
import { accounts } from './people/accounts/index.ts'
import { contact } from './people/contact/index.ts'
import { contactNotes } from './people/contact-notes/index.ts'
import { deviceKeys } from './people/device-keys/index.ts'
import { email } from './people/email/index.ts'
import { federation } from './people/federation/index.ts'
import { friends } from './people/friends/index.ts'
import { identities, identity, sessions } from './people/identity/index.ts'
import { serviceTokens } from './people/identity/service-tokens.ts'
import { inviteCodes, invites } from './people/invites/index.ts'
import { passkeys } from './people/passkeys/index.ts'
import { phone } from './people/phone/index.ts'
import { points } from './people/points/index.ts'
import { profiles } from './people/profiles/index.ts'
import { status } from './people/status/index.ts'
import { wallet } from './people/wallet/index.ts'
import { analytics } from './platform/analytics/index.ts'
import { broadcasts } from './platform/broadcasts/index.ts'
import { bugReports } from './platform/bug-reports/index.ts'
import { cluster } from './platform/cluster/index.ts'
import { installation } from './platform/installation/index.ts'
import { issues } from './platform/issues/index.ts'
import { ownData } from './platform/own-data/index.ts'
import { push } from './platform/push/index.ts'
import { webhooks } from './platform/webhooks/index.ts'
import { attendance } from './rooms/attendance/index.ts'
import { chatFolders } from './rooms/chat-folders/index.ts'
import { epochs } from './rooms/epochs/index.ts'
import { inbox } from './rooms/inbox/index.ts'
import { messages } from './rooms/messages/index.ts'
import { polls } from './rooms/messages/polls.ts'
import { places } from './rooms/places/index.ts'
import { groupInvitations } from './rooms/rooms/group-invitations/index.ts'
import { rooms } from './rooms/rooms/index.ts'
import { invitations } from './rooms/rooms/invitations.ts'
import { stars } from './rooms/stars/index.ts'
import { tokens } from './rooms/tokens/index.ts'
import { streams } from './streams/streams/index.ts'

export { checkEntry } from './events.ts'
export { mostUploadBytes, uploadAdmission } from './media/uploads/quota.ts'
export { callersOf } from './people/identity/sign-in.ts'
export { projection } from './rooms/room-state/projection.ts'
export { records } from './rooms/room-state/records.ts'

const registry = {
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
  polls,
  email,
  phone,
  points,
  invites,
  inviteCodes,
  moderation,
  inbox,
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
} satisfies { [Name in keyof typeof api]: Domain<(typeof api)[Name]> }

/** Every domain of the contract, in the order in which they hear of rows. It does not compile with one missing. */
export const domains: readonly Domain[] = Object.values(registry)

/** Every operation, with what answers it. */
export const bound = Object.entries(registry).flatMap(([name, domain]) => domain.bind(name))
