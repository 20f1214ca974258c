import type { Settings } from '#server/kernel/context'
import { seal, unseal } from '#server/kernel/seal'

/** Secrets of an owner for one tool alone. */
export interface Secrets {
  apiKey: string | null
  headers: Readonly<Record<string, string>>
}

export const noSecrets: Secrets = { apiKey: null, headers: {} }

/** The entry and origin that secrets belong to; elsewhere they cannot be read. */
export interface SecretPlace {
  agent: string
  field: 'mcp_servers' | 'api_tools'
  /** The id of a server, the name of an API. */
  entry: string
  url: string
}

type Keys = Settings['sessionKeys']

export const sealSecrets = (keys: Keys, place: SecretPlace, secrets: Secrets): string | null =>
  secrets.apiKey === null && Object.keys(secrets.headers).length === 0
    ? null
    : seal(keys, JSON.stringify(secrets), boundTo(place))

/** Empty if they were sealed elsewhere, or the key is gone. */
export function unsealSecrets(keys: Keys, place: SecretPlace, sealed: string | null): Secrets {
  if (sealed === null) return noSecrets
  try {
    return JSON.parse(unseal(keys, sealed, boundTo(place))) as Secrets
  } catch {
    return noSecrets
  }
}

const boundTo = ({ agent, field, entry, url }: SecretPlace) =>
  JSON.stringify([agent, field, entry, new URL(url).origin])

/** Request headers; explicit ones win over the key. */
export function headersOf({ apiKey, headers }: Secrets): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }), ...Object.fromEntries(given) }
}
