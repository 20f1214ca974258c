import { audiences, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { RoomKey } from '#server/log/types'

/** What ends each wait, by the audiences whose news ends it. */
const waitersOn = nodeState(() => new Map<string, Set<() => void>>())

/** Called for each audience, a room or an account, that a row on this node concerns. */
export const wakeWaiting = (node: Node, audience: string): void => {
  for (const wake of waitersOn(node).get(audience) ?? []) wake()
}
/** Does anybody wait for rows without a socket? */
export const isAwaited = (node: Node): boolean => waitersOn(node).size > 0

/** Ends with the time, with a row of the room or about the account, where the caller goes, or where it is there already. */
export async function waitFor(
  node: Node,
  { room, account }: { room: RoomKey; account: string | null },
  milliseconds: number,
  signal: AbortSignal,
  isThere: () => Promise<boolean>,
): Promise<void> {
  const waiting = waitersOn(node)
  const heard = [audiences.room(room), ...(account === null ? [] : [audiences.account(account)])]
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      for (const audience of heard) {
        const those = waiting.get(audience)
        those?.delete(end)
        if (those?.size === 0) waiting.delete(audience)
      }
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    for (const audience of heard) waiting.set(audience, (waiting.get(audience) ?? new Set()).add(end))
    signal.addEventListener('abort', end, { once: true })
    void isThere().then((already) => already && end(), end)
  })
}
