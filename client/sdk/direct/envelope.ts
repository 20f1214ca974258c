import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core'
import { bytesOf, fromBase64Url, lines, toBase64Url } from './bytes.ts'

const suite = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() })
const info = bytesOf('plaza dm epoch v1')
const curve = { name: 'ECDH', namedCurve: 'P-256' }

/** The private part cannot be read out of the browser, unless the store needs its bytes. */
export const newKeys = (extractable: boolean): Promise<CryptoKeyPair> =>
  crypto.subtle.generateKey(curve, extractable, ['deriveBits'])

export const publicKeyOf = async ({ publicKey }: CryptoKeyPair): Promise<string> =>
  toBase64Url(new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)))

/** Rejects what is no point of the curve. */
const importPublic = async (key: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', fromBase64Url(key), curve, true, [])

export const isPublicKey = (key: string): Promise<boolean> =>
  importPublic(key).then(
    () => true,
    () => false,
  )

/** What an envelope is for; it opens nowhere else. */
interface Use {
  dm: string
  epoch: string
  /** The device that it is sealed to. */
  device: string
}
const aad = ({ dm, epoch, device }: Use) => lines(dm, epoch, device)

/** Seals the key of an epoch to a device, by the keys of this one. */
export async function sealKey(key: Uint8Array<ArrayBuffer>, keys: CryptoKeyPair, to: string, use: Use) {
  const context = await suite.createSenderContext({ recipientPublicKey: await importPublic(to), senderKey: keys, info })
  const sealed = await context.seal(key, aad(use))
  return {
    device_id: use.device,
    enc: toBase64Url(new Uint8Array(context.enc)),
    sealed: toBase64Url(new Uint8Array(sealed)),
  }
}

/** Rejects where it was sealed by another device, to another one, or for another use. */
export async function openKey(
  { enc, sealed }: { enc: string; sealed: string },
  keys: CryptoKeyPair,
  by: string,
  use: Use,
): Promise<Uint8Array> {
  const context = await suite.createRecipientContext({
    recipientKey: keys,
    enc: fromBase64Url(enc),
    senderPublicKey: await importPublic(by),
    info,
  })
  return new Uint8Array(await context.open(fromBase64Url(sealed), aad(use)))
}
