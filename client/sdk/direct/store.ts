/** What is known of a device of somebody. */
export interface Pin {
  key: string
  /** Messages are sealed to it. */
  accepted: boolean
  /** Its account has vouched for it. */
  certified: boolean
  /** Milliseconds. */
  at: number
  /** It came after others of its account. */
  isNew: boolean
  /** The person goes on without it. */
  isLeftOut?: boolean
}
export type Pins = { readonly [device: string]: Pin }

/** The keys of this device for one account, and whom it trusts. */
export interface Kept {
  device_id: string
  keys: CryptoKeyPair
  public_key: string
  /** The server knows it. */
  isTold: boolean
  pins: { readonly [address: string]: Pins }
}

/** Where the keys of a device are kept. */
export interface KeyStore {
  /** True if it stores the bytes of a private key rather than the key itself. */
  readonly extractable: boolean
  /** Replaces what is kept for an account, in one step; resolves with what is kept then. Null and undefined leave it as it is. */
  change(account: string, next: (kept: Kept | null) => Kept | null | undefined): Promise<Kept | null>
}

/** Until the page or the process ends. */
export function memoryKeys(): KeyStore {
  const kept = new Map<string, Kept>()
  return {
    extractable: false,
    async change(account, next) {
      const changed = next(kept.get(account) ?? null)
      if (changed) kept.set(account, changed)
      return kept.get(account) ?? null
    },
  }
}

const table = 'devices'

/** In this browser, where no script can read the private part of a key. */
export const browserKeys = (): KeyStore => ({
  extractable: false,
  async change(account, next) {
    const database = await opened()
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction(table, 'readwrite')
        const devices = transaction.objectStore(table)
        const reading = devices.get(account)
        let kept: Kept | null = null
        reading.onsuccess = () => {
          kept = (reading.result as Kept | undefined) ?? null
          const changed = next(kept)
          if (changed) devices.put(changed, account)
          kept = changed ?? kept
        }
        transaction.oncomplete = () => resolve(kept)
        transaction.onabort = () => reject(transaction.error)
      })
    } finally {
      database.close()
    }
  },
})

const opened = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open('plaza-device-keys', 1)
    request.onupgradeneeded = () => request.result.createObjectStore(table)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

interface Written extends Omit<Kept, 'keys'> {
  keys: { publicKey: JsonWebKey; privateKey: JsonWebKey }
}
const curve = { name: 'ECDH', namedCurve: 'P-256' }

interface Files {
  readFile(path: string, encoding: 'utf8'): Promise<string>
  writeFile(path: string, text: string, options: { mode: number; flush: boolean }): Promise<void>
  rename(from: string, to: string): Promise<void>
}

/** Asked of the process rather than imported: bundles for browsers hold nothing of Node. */
const nodeFiles = (): Files =>
  (globalThis as unknown as { process: { getBuiltinModule(name: string): Files } }).process.getBuiltinModule(
    'node:fs/promises',
  )

/** In a file that its owner alone may read (mode 0600), for clients in Node. One process uses it. */
export function fileKeys(path: string): KeyStore {
  let turn: Promise<unknown> = Promise.resolve()
  const change = async (account: string, next: Parameters<KeyStore['change']>[1]) => {
    const files = nodeFiles()
    const text = await files.readFile(path, 'utf8').catch((error: { code?: string }) => {
      if (error.code === 'ENOENT') return '{}'
      throw error
    })
    const all = JSON.parse(text) as { [account: string]: Written }
    const kept = all[account] ? await read(all[account]) : null
    const changed = next(kept)
    if (!changed) return kept
    const fresh = `${path}.${crypto.randomUUID()}`
    const written = JSON.stringify({ ...all, [account]: await write(changed) })
    await files.writeFile(fresh, written, { mode: 0o600, flush: true })
    await files.rename(fresh, path)
    return changed
  }
  return {
    extractable: true,
    change(account, next) {
      const changing = turn.then(() => change(account, next))
      turn = changing.catch(() => undefined)
      return changing
    },
  }
}

const write = async ({ keys, ...rest }: Kept): Promise<Written> => ({
  ...rest,
  keys: {
    publicKey: await crypto.subtle.exportKey('jwk', keys.publicKey),
    privateKey: await crypto.subtle.exportKey('jwk', keys.privateKey),
  },
})

const read = async ({ keys, ...rest }: Written): Promise<Kept> => ({
  ...rest,
  keys: {
    publicKey: await crypto.subtle.importKey('jwk', keys.publicKey, curve, true, []),
    privateKey: await crypto.subtle.importKey('jwk', keys.privateKey, curve, true, ['deriveBits']),
  },
})
