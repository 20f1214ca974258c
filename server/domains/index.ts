import { accounts } from './accounts/index.ts'
import { cluster } from './cluster/index.ts'
import { email } from './email/index.ts'
import { federation } from './federation/index.ts'
import { friends } from './friends/index.ts'
import { identities, identity, sessions } from './identity/index.ts'
import { serviceTokens } from './identity/service-tokens.ts'
import { inbox } from './inbox/index.ts'
import { messages } from './messages/index.ts'
import { polls } from './messages/polls.ts'
import { moderation } from './moderation/index.ts'
import { sendLetter, sendText } from './outgoing/index.ts'
import { passkeys } from './passkeys/index.ts'
import { phone } from './phone/index.ts'
import { rooms } from './rooms/index.ts'
import { invitations } from './rooms/invitations.ts'
import { social } from './social/index.ts'
import { status } from './status/index.ts'
import { wallet } from './wallet/index.ts'

/** Everything the server can do. */
export const bound = [
  ...status,
  ...identity,
  ...sessions,
  ...identities,
  ...federation,
  ...serviceTokens,
  ...accounts,
  ...passkeys,
  ...rooms,
  ...invitations,
  ...messages,
  ...polls,
  ...email,
  ...phone,
  ...inbox,
  ...moderation,
  ...social,
  ...friends,
  ...cluster,
  ...wallet,
]

/** Everything the server does later. */
export const jobKinds = [sendLetter, sendText]
