import { grantDemoModerator } from '#server/domains/moderation/moderation/promote'
import { accountOf, recordSignIn } from '#server/domains/people/accounts/accounts'
import { changeProfile } from '#server/domains/people/accounts/profile-changes'
import { joinAlpha } from '#server/domains/rooms/rooms/alpha'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'

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

/** Scripted people, recognizable by their ids. */
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

/** A refusal here means that a real user banned a demo person or deleted the message; the demo carries on. */
export async function tolerate<T>(step: Promise<T>): Promise<T | null> {
  try {
    return await step
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}
