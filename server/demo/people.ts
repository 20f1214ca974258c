import { accountOf, recordSignIn } from '#server/domains/accounts/accounts'
import { changeProfile } from '#server/domains/accounts/profile-changes'
import { bound } from '#server/domains/index'
import { grantDemoModerator } from '#server/domains/moderation/promote'
import { joinAlpha } from '#server/domains/rooms/alpha'
import type { Context, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { AppError } from '#shared/errors'
import type { CallOf, Operation, OutputOf } from '#shared/kit/contract'

const names = {
  'demo:mira': 'Mira Okafor',
  'demo:tomas': 'Tomás Rey',
  'demo:jun': 'Jun Park',
  'demo:elif': 'Elif Kaya',
  'demo:sam': 'Sam Whitlock',
  'demo:priya': 'Priya Nair',
  'demo:lena': 'Lena Brandt',
  'demo:kofi': 'Kofi Mensah',
}

/** Scripted people; their ids say so. */
export const people: readonly string[] = Object.keys(names)
export const caretaker = 'demo:lena'

export async function settlePeople(node: Node): Promise<void> {
  for (const [id, name] of Object.entries(names)) {
    if (!(await accountOf(id))) {
      await recordSignIn(id, 'passkey', node.now())
      await changeProfile(node, id, { display_name: name })
    }
    await joinAlpha(node, id)
  }
  await grantDemoModerator(node, caretaker)
}

/** Does what a person may do, by the operation everybody uses. */
export async function act<O extends Operation>(
  node: Node,
  account: string,
  operation: O,
  input: CallOf<O>,
): Promise<OutputOf<O>> {
  const found = bound.find((one) => one.operation === operation)
  if (!found) throw new Error('Nobody can do this')
  return (await found.action(operation.input.parse(input) as never, contextOf(node, account))) as OutputOf<O>
}

/** What is refused here was decided by somebody's hand: a person was banned, or a message is gone. The story goes on. */
export async function tolerate<T>(step: Promise<T>): Promise<T | null> {
  try {
    return await step
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function contextOf(node: Node, account: string): Context {
  const session = {
    id: account,
    authMethod: 'passkey',
    chainId: null,
    passkeyCredentialId: null,
    expiresAt: Number.MAX_SAFE_INTEGER,
    provenAt: null,
    userId: account,
  }
  const caller = { account, session, ip: 'demo', userAgent: 'demo' }
  return {
    caller,
    recognise: async () => caller,
    requestId: newId(),
    creationId: newId(),
    door: 'socket',
    origin: null,
    isLocal: true,
    connection: null,
    node,
    logger: node.logger,
    signal: new AbortController().signal,
    emit() {},
    setHeader() {},
    onAnswer() {},
    setSessionCookie() {},
    browser: null,
    setBrowserCookie() {},
  }
}
