import { accountsContract } from '#shared/api/accounts'
import { identityContract } from '#shared/api/identity'
import { messages } from '#shared/api/messages'
import { moderation } from '#shared/api/moderation'
import { polls } from '#shared/api/polls'
import { rooms } from '#shared/api/rooms'
import { social } from '#shared/api/social'

export const api = {
  identity: identityContract,
  accounts: accountsContract,
  rooms,
  messages,
  polls,
  moderation,
  social,
}
export type PlazaApi = typeof api
