import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export const site = { rpId: 'localhost', origin: 'http://localhost:3000' }

/** The parts of an answer by browser and authenticator; a test may corrupt each. */
export interface Ways {
  type?: string
  origin?: string
  crossOrigin?: boolean
  topOrigin?: string
  rpId?: string
  flags?: number
  counter?: number
  userHandle?: string
  /** Changes the bytes before they are signed. */
  authData?: (bytes: Buffer) => Buffer
  /** Changes the signature after it is made. */
  signature?: (bytes: Buffer) => Buffer
  /** Signs with another key. */
  key?: KeyObject
}

const present = 0x01
const verified = 0x04
const backup = 0x18
const attested = 0x40

/** An authenticator in software, with one passkey. */
export class Authenticator {
  readonly id: Buffer
  readonly #key: KeyObject
  readonly x: Buffer
  readonly y: Buffer
  counter = 0

  constructor(id: Buffer = randomBytes(32)) {
    this.id = id
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#key = privateKey
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    this.x = Buffer.from(x, 'base64url')
    this.y = Buffer.from(y, 'base64url')
  }

  get credentialId(): string {
    return this.id.toString('base64url')
  }

  /** The id of an account that was created with this passkey. */
  get account(): string {
    return `0x${sha256(this.id).subarray(0, 20).toString('hex')}`
  }

  get publicKey(): { x: string; y: string } {
    return { x: `0x${this.x.toString('hex')}`, y: `0x${this.y.toString('hex')}` }
  }

  /** As `navigator.credentials.create` answers. `cose`, `fmt` and `attStmt` spoil what is attested. */
  create(
    challenge: string,
    { cose, fmt = 'none', attStmt = new Map(), ...ways }: Ways & { cose?: Cbor; fmt?: string; attStmt?: Cbor } = {},
  ) {
    const key = encode(cose ?? coseKey(this.x, this.y))
    const flags = ways.flags ?? present | verified | backup | attested
    const data = Buffer.concat([authData({ ...ways, flags }), Buffer.alloc(16), uint16(this.id.length), this.id, key])
    const attestationObject = encode(
      new Map<Cbor, Cbor>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', ways.authData?.(data) ?? data],
      ]),
    )
    return {
      id: this.credentialId,
      rawId: this.credentialId,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData('webauthn.create', challenge, ways).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal', 'hybrid'],
      },
    }
  }

  /** As `navigator.credentials.get` answers. */
  get(challenge: string, ways: Ways = {}) {
    const client = clientData('webauthn.get', challenge, ways)
    const plain = authData({ flags: present | verified | backup, counter: this.counter, ...ways })
    const data = ways.authData?.(plain) ?? plain
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), ways.key ?? this.#key)
    return {
      id: this.credentialId,
      rawId: this.credentialId,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: (ways.signature?.(signature) ?? signature).toString('base64url'),
        ...(ways.userHandle === undefined ? {} : { userHandle: ways.userHandle }),
      },
    }
  }
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()

function clientData(made: string, challenge: string, ways: Ways): Buffer {
  const { type = made, origin = site.origin, crossOrigin = false, topOrigin } = ways
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin, topOrigin }))
}

function authData({ rpId = site.rpId, flags = 0, counter = 0 }: Ways): Buffer {
  const tail = Buffer.alloc(5)
  tail.writeUInt8(flags, 0)
  tail.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(rpId), tail])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** The key of an ES256 passkey, as it is attested. */
export const coseKey = (x: Buffer, y: Buffer, more: readonly (readonly [number, Cbor])[] = []): Cbor =>
  new Map<Cbor, Cbor>([[1, 2], [3, -7], [-1, 1], [-2, x], [-3, y], ...more])

export type Cbor = number | string | Buffer | Map<Cbor, Cbor> | readonly Cbor[]

/** The subset of CBOR that authenticators use. */
function encode(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([name, one]) => [encode(name), encode(one)])])
  return Buffer.concat([head(4, value.length), ...value.map(encode)])
}

function head(kind: number, count: number): Buffer {
  const first = kind << 5
  if (count < 24) return Buffer.of(first | count)
  if (count < 256) return Buffer.of(first | 24, count)
  return Buffer.of(first | 25, count >> 8, count & 255)
}
