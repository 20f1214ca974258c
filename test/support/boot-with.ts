import { afterAll } from 'vitest'
import type { Services } from '#server/kernel/context'
import { type Booted, boot } from './boot.ts'
import type { Entry } from './enter.ts'
import { type Person, people } from './people.ts'
import { wallet } from './wallet.ts'

const bootedWithinMilliseconds = 60_000

/** A server for the tests of one file, with signed-in people by name, some of them admins. */
export async function bootWith<Name extends string>(
  names: readonly Name[],
  {
    admins = [],
    superAdmins = [],
    environment = {},
    ...options
  }: {
    nodes?: number
    admins?: Name[]
    superAdmins?: Name[]
    environment?: Record<string, string>
    services?: Partial<Services>
    entry?: Entry
  } = {},
): Promise<Record<Name, Person> & { server: Booted }> {
  const addresses = (who: Name[]) => who.map((name) => wallet(name).address).join(',')
  const roles = { ADMINS: addresses(admins), SUPER_ADMINS: addresses(superAdmins) }
  const server = await inTime(boot({ ...options, environment: { ...roles, ...environment } }))
  afterAll(() => server.close())
  const everybody = await people(server, ...names)
  const byName = Object.fromEntries(names.map((name, at) => [name, everybody[at]])) as Record<Name, Person>
  return { ...byName, server }
}

/** Hooks have a deadline of their own; what a file awaits before its tests has none. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The server did not start in time.')), bootedWithinMilliseconds)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
