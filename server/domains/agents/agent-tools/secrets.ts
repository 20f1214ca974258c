import type { Settings } from '#server/kernel/context'
import { seal, unseal } from '#server/kernel/seal'

/** What an owner gave to be told to one tool, and to nobody else. */
export interface Secrets {
  apiKey: string | null
  headers: Readonly<Record<string, string>>
}

export const noSecrets: Secrets = { apiKey: null, headers: {} }

/** The one entry of one agent that secrets belong to, and the origin they are for: elsewhere they cannot be read. */
export interface Place {
  agent: string
  field: 'mcp_servers' | 'api_tools'
  /** The id of a server, the name of an API. */
  entry: string
  url: string
}

type Keys = Settings['sessionKeys']

export const sealSecrets = (keys: Keys, place: Place, secrets: Secrets): string | null =>
  secrets.apiKey === null && Object.keys(secrets.headers).length === 0
    ? null
    : seal(keys, JSON.stringify(secrets), boundTo(place))

/** None where they were sealed for another place, or with a key that is gone. */
export function unsealSecrets(keys: Keys, place: Place, sealed: string | null): Secrets {
  if (sealed === null) return noSecrets
  try {
    return JSON.parse(unseal(keys, sealed, boundTo(place))) as Secrets
  } catch {
    return noSecrets
  }
}

const boundTo = ({ agent, field, entry, url }: Place) => JSON.stringify([agent, field, entry, new URL(url).origin])

/** The headers of a request; one that was given for it goes before what follows from the key. */
export function headersOf({ apiKey, headers }: Secrets): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }), ...Object.fromEntries(given) }
}
