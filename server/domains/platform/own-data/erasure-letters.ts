import { z } from 'zod'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import type { Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'

/** Reminds the owner of an account that it is to be erased. */
export const reminding = job({
  kind: 'own-data.remind-of-erasure',
  payload: z.object({ id: z.string(), account: z.string() }),
  async run({ id, account }, { node }) {
    const known = await accountOf(account)
    if (known?.erasure_id !== id || !known.erased_at) return
    await writeOfErasure(node, account, id, 'reminder')
  },
})

/** A letter about the erasure, where the account has an address. */
export async function writeOfErasure(
  node: Node,
  account: string,
  id: string,
  kind: 'notice' | 'reminder',
): Promise<void> {
  const known = await accountOf(account)
  if (!node.services.mail || !known?.email || !known.erased_at) return
  const when = known.erased_at.toUTCString()
  const subject = kind === 'notice' ? 'Your account will be deleted' : 'Your account will soon be deleted'
  const text = `Your account will be deleted on ${when}, as you asked. You are signed out on all devices.\n\nTo keep the account, sign in before that time:\n\n${node.settings.publicUrl}\n\nIf you did not ask for this, sign in now, and sign out your other devices in the settings.\n`
  await sendEmail(node, { to: known.email, subject, text }, `erasure-${kind}-${id}`)
}
