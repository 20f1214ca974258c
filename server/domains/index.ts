import type { Domain } from '#server/kernel/domain'
import type { api } from '#shared/api/index'
import { accounts } from './accounts/index.ts'
import { betaAccess } from './agents/beta.ts'
import { agents } from './agents/index.ts'
import { analytics } from './analytics/index.ts'
import { attendance } from './attendance/index.ts'
import { booking } from './booking/index.ts'
import { broadcasts } from './broadcasts/index.ts'
import { bugReports } from './bug-reports/index.ts'
import { calendar } from './calendar/index.ts'
import { calls } from './calls/index.ts'
import { chatFolders } from './chat-folders/index.ts'
import { cluster } from './cluster/index.ts'
import { contact } from './contact/index.ts'
import { contactNotes } from './contact-notes/index.ts'
import { deviceKeys } from './device-keys/index.ts'
import { email } from './email/index.ts'
import { epochs } from './epochs/index.ts'
import { federation } from './federation/index.ts'
import { friends } from './friends/index.ts'
import { identities, identity, sessions } from './identity/index.ts'
import { serviceTokens } from './identity/service-tokens.ts'
import { inbox } from './inbox/index.ts'
import { installation } from './installation/index.ts'
import { inviteCodes } from './invites/codes.ts'
import { invites } from './invites/index.ts'
import { issues } from './issues/index.ts'
import { knowledge } from './knowledge/index.ts'
import { meetings } from './meetings/index.ts'
import { messages } from './messages/index.ts'
import { polls } from './messages/polls.ts'
import { moderation } from './moderation/index.ts'
import { ownData } from './own-data/index.ts'
import { payments } from './paid-chat/index.ts'
import { passkeys } from './passkeys/index.ts'
import { phone } from './phone/index.ts'
import { places } from './places/index.ts'
import { points } from './points/index.ts'
import { prices } from './prices/index.ts'
import { profiles } from './profiles/index.ts'
import { push } from './push/index.ts'
import { groupInvitations } from './rooms/group-invitations/index.ts'
import { rooms } from './rooms/index.ts'
import { invitations } from './rooms/invitations.ts'
import { scheduling } from './scheduling/index.ts'
import { social } from './social/index.ts'
import { stars } from './stars/index.ts'
import { status } from './status/index.ts'
import { streams } from './streams/index.ts'
import { tokens } from './tokens/index.ts'
import { uploads } from './uploads/index.ts'
import { wallet } from './wallet/index.ts'
import { webhooks } from './webhooks/index.ts'

export { checkEntry } from './events.ts'
export { callersOf } from './identity/callers.ts'
export { projection } from './room-state/projection.ts'
export { records } from './room-state/records.ts'
export { admissionOf } from './uploads/quota.ts'

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
