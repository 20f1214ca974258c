import { audiences, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { RoomKey } from '#server/log/types'

/** The functions that end waits, by their audience. */
const waitersOn = nodeState(() => new Map<string, Set<() => void>>())

/** Ends the waits of an audience, a room or an account; called for each concerned audience of a row. */
export const endWaits = (node: Node, audience: string): void => {
  for (const wake of waitersOn(node).get(audience) ?? []) wake()
}
/** Does any call wait for rows on this node? */
export const hasWaits = (node: Node): boolean => waitersOn(node).size > 0

/**
 * Resolves on timeout, on a new row of the room or about the account, or on disconnect. It resolves at once if the row
 * exists or the caller has gone.
 */
export async function waitForRows(
  node: Node,
  { room, account }: { room: RoomKey; account: string | null },
  milliseconds: number,
  signal: AbortSignal,
  isThere: () => Promise<boolean>,
): Promise<void> {
  if (signal.aborted) return
  const waiting = waitersOn(node)
  const audienceNames = [audiences.room(room), ...(account === null ? [] : [audiences.account(account)])]
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      for (const audience of audienceNames) {
        const those = waiting.get(audience)
        those?.delete(end)
        if (those?.size === 0) waiting.delete(audience)
      }
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    for (const audience of audienceNames) waiting.set(audience, (waiting.get(audience) ?? new Set()).add(end))
    signal.addEventListener('abort', end, { once: true })
    void isThere().then((already) => already && end(), end)
  })
}
