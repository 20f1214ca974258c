/** The fields of a Solana sign-in message. */
interface SolanaMessage {
  domain: string
  address: string
  statement?: string | undefined
  uri: string
  chainId?: string | undefined
  nonce: string
  issuedAt: string
  expirationTime?: string | undefined
  notBefore?: string | undefined
  resources?: string | undefined
}

const line = (name: string, value: string, group: string) => `\\n${name}: (?<${group}>${value})`
const optional = (pattern: string) => `(?:${pattern})?`
const time = '\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:Z|[+-]\\d{2}:\\d{2})'
const layout = new RegExp(
  [
    '^(?<domain>[^\\s]{1,255}) wants you to sign in with your Solana account:',
    '\\n(?<address>[1-9A-HJ-NP-Za-km-z]{32,44})\\n',
    optional('\\n(?<statement>[^\\n\\r]{1,1000})\\n'),
    line('URI', '\\S{1,2048}', 'uri'),
    '\\nVersion: 1',
    optional(line('Chain ID', '[\\w:-]{1,64}', 'chainId')),
    line('Nonce', '[A-Za-z0-9]{8,64}', 'nonce'),
    line('Issued At', time, 'issuedAt'),
    optional(line('Expiration Time', time, 'expirationTime')),
    optional(line('Not Before', time, 'notBefore')),
    optional('\\nRequest ID: \\S{0,255}'),
    optional('\\nResources:(?<resources>(?:\\n- \\S{1,2048}){0,20})'),
    '$',
  ].join(''),
)

/** The fields of a message that matches the layout line by line; null for other texts. */
export function readSolanaMessage(raw: string): SolanaMessage | null {
  const fields = layout.exec(raw)?.groups
  return fields ? ({ ...fields } as unknown as SolanaMessage) : null
}

export const writeSolanaMessage = ({ domain, address, statement, uri, nonce, issuedAt }: SolanaMessage): string =>
  [
    `${domain} wants you to sign in with your Solana account:`,
    `${address}\n`,
    ...(statement === undefined ? [] : [`${statement}\n`]),
    `URI: ${uri}`,
    'Version: 1',
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
  ].join('\n')
