import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Connection, Context, Node } from '#server/kernel/context'

/** Of an id in base64, and of what marks it as ours in the cookie of a browser, which has 43 characters. */
const [idLength, markLength] = [22, 21]

/** Who somebody is to the count, with the address of those who are not signed in. */
export interface Viewer {
  viewer: string
  address: string | null
}

/** Who somebody is to the count: an account, a browser that was given a mark of ours, or where they ask from. */
export function restViewer({ caller, browser, node }: Context): Viewer {
  if (caller.account !== null) return { viewer: `a:${caller.account}`, address: null }
  const known = knownBrowser(node, browser)
  if (known !== null) return { viewer: known, address: caller.ip }
  const day = new Date(node.now()).toISOString().slice(0, 10)
  return { viewer: `h:${digestOf(node, `${day} ${caller.ip} ${caller.userAgent}`)}`, address: caller.ip }
}

/** Null for one that has no mark of ours. */
function knownBrowser(node: Node, browser: string | null): string | null {
  const [id, mark] = [browser?.slice(0, idLength) ?? '', browser?.slice(idLength) ?? '']
  return isEqual(mark, digestOf(node, `browser ${id}`, markLength)) ? `b:${id}` : null
}

/** What a browser is given, by which it is known as one that we have seen. */
export function newBrowser(node: Node): string {
  const id = newId()
  return `${id}${digestOf(node, `browser ${id}`, markLength)}`
}

/** Who is not signed in is known by the mark of their browser, else by a key of ours that they say again, else by the connection that asks again. */
export function socketViewer(
  { caller, browser, node }: Context,
  connection: Connection,
  said: string | undefined,
): Viewer & { key: string | null } {
  if (caller.account !== null) return { viewer: `a:${caller.account}`, address: null, key: null }
  const memory = 'viewer key'
  const key =
    [said, connection.memory.get(memory)].find((one): one is string => isKey(node, one)) ?? keyOf(node, newId())
  connection.memory.set(memory, key)
  return { viewer: knownBrowser(node, browser) ?? `g:${key.slice(0, idLength)}`, address: caller.ip, key }
}

const keyOf = (node: Node, id: string) => `${id}.${digestOf(node, `viewer ${id}`)}`
const isKey = (node: Node, said: unknown) =>
  typeof said === 'string' && isEqual(said, keyOf(node, said.slice(0, idLength)))

const newId = () => randomBytes(16).toString('base64url')

export const digestOf = ({ settings }: Node, text: string, length = idLength): string =>
  createHmac('sha256', settings.sessionKeys[0]?.secret ?? '')
    .update(`stream viewers ${text}`)
    .digest('base64url')
    .slice(0, length)

const isEqual = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
