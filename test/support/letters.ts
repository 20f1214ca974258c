import { vi } from 'vitest'
import { z } from 'zod'
import type { Booted } from './boot.ts'
import { call } from './wallet.ts'

const Letters = z.object({
  letters: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(['mail', 'sms']),
      to: z.string(),
      subject: z.string().nullable(),
      text: z.string(),
      calendar: z.object({ method: z.string(), text: z.string() }).optional(),
      at: z.string(),
    }),
  ),
})
export type Shown = z.infer<typeof Letters>['letters'][number]

/** The emails that a server with captured mail has sent to an address, newest first. */
export async function lettersTo(server: Pick<Booted, 'url'>, to: string): Promise<Shown[]> {
  const { letters } = Letters.parse(await (await fetch(`${server.url}/dev/mail.json`)).json())
  return letters.filter((letter) => letter.to === to)
}

/** The email that a call sends; notices about changes of the account are ignored. */
export async function letterAfter(
  server: Pick<Booted, 'url'>,
  to: string,
  act: () => Promise<unknown>,
): Promise<Shown> {
  const letters = async () => (await lettersTo(server, to)).filter(({ subject }) => !subject?.startsWith('A change'))
  const before = (await letters()).length
  await act()
  return vi.waitFor(
    async () => {
      const [newest, ...older] = await letters()
      if (!newest || older.length < before) throw new Error(`No letter to ${to}`)
      return newest
    },
    { timeout: 10_000, interval: 20 },
  )
}

export const codeIn = ({ text }: Pick<Shown, 'text'>): string => /\b\d{6}\b/.exec(text)?.[0] ?? ''
export const linkIn = ({ text }: Pick<Shown, 'text'>): URL => new URL(/https?:\S+/.exec(text)?.[0] ?? '')

/** A code for an address, asked at this path. */
export const codeFor = async (server: Booted, email: string, path = '/api/email/login/send-code'): Promise<string> =>
  codeIn(await letterAfter(server, email, () => call(server.url, `POST ${path}`, { email })))

const Tokens = z.object({ sessionToken: z.string(), walletAddress: z.string() })

/** A person who signs in by an email address only. */
export async function signInByEmail(server: Booted, email: string) {
  const code = await codeFor(server, email)
  const { body } = await call(server.url, 'POST /api/email/login/verify', { email, code })
  return Tokens.parse(body)
}
