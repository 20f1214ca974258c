import { accountOf, recordSignIn } from '#server/domains/people/accounts/accounts'
import { type Account, Accounts } from '#server/domains/people/accounts/model'
import { storeSession } from '#server/domains/people/identity/sessions'
import { siweSettings } from '#server/domains/people/identity/settings'
import { joinAlpha } from '#server/domains/rooms/rooms/alpha'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import { signIn, type Wallet } from './wallet.ts'

/** How `person` signs in: by two writes, by these and a membership in alpha, or as a stranger does. */
export type Entry = 'written' | 'in alpha' | 'through the door'

/** The nodes of this process, by their ports. */
const here = new Map<string, { node: Node; entry: Entry }>()
const portOf = (url: string) => new URL(url).port

/** Has people at this URL enter so, until what it gives is called. */
export function admit(url: string, node: Node, entry: Entry): () => void {
  const port = portOf(url)
  here.set(port, { node, entry })
  return () => void here.delete(port)
}

/** The client data of a test's sign-in. */
const seen = { ip: '127.0.0.1', userAgent: 'node' }

/** The tokens of this wallet as `signIn` returns them. Headers, or another process's server, need the real request. */
export async function enter(url: string, who: Wallet, headers: object = {}) {
  const { node, entry } = here.get(portOf(url)) ?? {}
  if (!node || entry === 'through the door' || Object.keys(headers).length > 0) return signIn(url, who, headers)
  return write(node, who.address.toLowerCase(), entry === 'in alpha')
}

/** Leaves of a sign-in the account and the session, and the membership in alpha where that is wanted. */
async function write(node: Node, account: string, isInAlpha: boolean) {
  const { user_id: userId } = await writeAccount(account, node.now())
  const { sessionToken, refreshToken } = await storeSession(node, {
    account,
    userId,
    authMethod: 'wallet',
    chainId: siweSettings.of(node).defaultChainId,
    passkeyCredentialId: null,
    seen,
  })
  if (isInAlpha) await joinAlpha(node, account)
  return { sessionToken, refreshToken, address: account }
}

/** The stored account of the first sign-in; later accounts are copies with their own ids and times. */
const first: { row?: Account } = {}

async function writeAccount(_id: string, at: number): Promise<Pick<Account, 'user_id'>> {
  const { row } = first
  if (!row) {
    const isNew = (await accountOf(_id)) === null
    const made = await recordSignIn(_id, 'wallet', at)
    if (isNew) first.row ??= made
    return made
  }
  const own = Object.entries(row).map(([field, value]) => [field, value instanceof Date ? new Date(at) : value])
  const account: Account = { ...Object.fromEntries(own), _id, user_id: newId() }
  try {
    await Accounts.create(account)
    return account
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return recordSignIn(_id, 'wallet', at)
  }
}
