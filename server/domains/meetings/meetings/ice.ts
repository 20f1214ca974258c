import { createHmac } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import { meetingSettings } from './settings.ts'

/** So long what a browser is given opens the TURN servers. */
const turnSeconds = 14_400

/** The servers by which browsers reach each other; those of TURN with a password for this visit alone, as their `use-auth-secret` has it. */
export function iceServersFor(node: Node, peer: string) {
  const { stun, turn, secret } = meetingSettings.of(node)
  const username = `${Math.floor(node.now() / 1_000) + turnSeconds}:${peer}`
  const credential = secret === null ? null : createHmac('sha1', secret).update(username).digest('base64')
  return [
    ...(stun.length > 0 ? [{ urls: stun }] : []),
    ...(turn.length > 0 && credential !== null ? [{ urls: turn, username, credential }] : []),
  ]
}
