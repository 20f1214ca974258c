import { accountsContract } from './accounts.ts'
import { identityContract } from './identity.ts'
import { messageEvents, messages } from './messages.ts'
import { moderation, moderationEvents } from './moderation.ts'
import { notificationEvents } from './notifications.ts'
import { polls } from './polls.ts'
import { roomEvents, rooms } from './rooms.ts'
import { social } from './social.ts'
import { status } from './status.ts'

/** Every operation a client can ask for. */
export const api = {
  status,
  identity: identityContract,
  accounts: accountsContract,
  rooms,
  messages,
  polls,
  moderation,
  social,
}

/** Every event the server tells, beside those of the connection itself. */
export const events = { ...roomEvents, ...messageEvents, ...moderationEvents, ...notificationEvents }
