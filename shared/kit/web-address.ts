const addressAtMost = 2_000

/** A web address as browsers send it; null for other schemes, with a user, or without an address. */
export function webAddress(value: string): string | null {
  if (value.length > addressAtMost || !URL.canParse(value)) return null
  const { protocol, username, password, href } = new URL(value)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && username === '' && password === '' && href.length <= addressAtMost ? href : null
}

/** Is the address of this host, or of one below it? */
export function isOfHost(address: string, host: string): boolean {
  const { hostname } = new URL(address)
  return hostname === host || hostname.endsWith(`.${host}`)
}
