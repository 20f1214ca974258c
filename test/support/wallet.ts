import { io, type Socket } from 'socket.io-client'
import { keccak256, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'

const walletOf = (name: string) => privateKeyToAccount(keccak256(toHex(name)))
export type Wallet = ReturnType<typeof walletOf>
const wallets = new Map<string, Wallet>()

/** A wallet that is the same for the same name. */
export function wallet(name: string): Wallet {
  const known = wallets.get(name) ?? walletOf(name)
  wallets.set(name, known)
  return known
}

/** Calls a path, with a bearer where one is given. */
export async function call(url: string, route: string, input: object | null = null, token?: string, headers = {}) {
  const [method = 'GET', path = ''] = route.split(' ')
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(input === null ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(input === null ? {} : { body: JSON.stringify(input) }),
  })
  const body = z.record(z.string(), z.unknown()).parse(await firstOf(answer))
  return { status: answer.status, headers: answer.headers, body, code: codeOf(body) }
}

/** The body of an answer; fails the test where it is refused. */
export async function bodyOf(answer: ReturnType<typeof call>) {
  const { status, body } = await answer
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** The whole answer, or the first item of a sequence; nothing of one without a body. */
async function firstOf(answer: Response): Promise<unknown> {
  if (answer.status === 304) return {}
  if (!/x-ndjson|event-stream/.test(answer.headers.get('content-type') ?? '')) return answer.json()
  for await (const line of linesOf(answer)) return JSON.parse(line)
  return null
}

/** The lines of a sequence, or the data of its events, without empty ones. Leaving the loop closes it. */
export async function* linesOf({ body }: Pick<Response, 'body'>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const text = line.replace(/^data: |^(id|event)?:.*/, '')
      if (text !== '') yield text
    }
  }
}

const Refused = z.union([
  z.object({ code: z.string() }).transform(({ code }) => code),
  z.object({ error: z.object({ code: z.string() }) }).transform(({ error }) => error.code),
])
export const codeOf = (body: unknown) => Refused.safeParse(body).data ?? null

const Begun = z.object({ message: z.string(), nonce: z.string() })
const Tokens = z.object({ sessionToken: z.string(), refreshToken: z.string() })

export async function begin(url: string, who: Wallet) {
  return Begun.parse((await call(url, `GET /api/auth/verify?address=${who.address}`)).body)
}

/** What a wallet sends to sign in; `change` may spoil the message before it is signed. */
export async function signed(url: string, who: Wallet, change = (message: string) => message) {
  const message = change((await begin(url, who)).message)
  return { address: who.address, message, signature: await who.signMessage({ message }) }
}

export async function signIn(url: string, who: Wallet, headers = {}) {
  const answer = await call(url, 'POST /api/auth/verify', await signed(url, who), undefined, headers)
  return { ...Tokens.parse(answer.body), address: who.address.toLowerCase(), answer }
}

/** 200 while the session of this token goes on. */
export const sessionStatus = async (url: string, token: unknown) =>
  (await call(url, 'GET /api/auth/session', null, String(token))).status

/** Of nobody where the token is null. */
export const connect = (url: string, namespace: string, token: string | null): Socket =>
  io(url + namespace, {
    transports: ['websocket'],
    auth: token === null ? {} : { token },
    forceNew: true,
    reconnection: false,
  })

/** The next event of this name. */
export const heard = (socket: Socket, event: string): Promise<unknown> =>
  new Promise((resolve) => socket.once(event, resolve))
