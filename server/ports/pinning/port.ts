/** Pins a file in IPFS. Throws UPSTREAM_ERROR or TIMEOUT without an answer. */
export interface Pinning {
  /** The hash (CID) by which the file is found there. */
  pin(name: string, file: Blob): Promise<string>
  /** The URLs of a file, one per gateway. */
  urlsOf(hash: string): string[]
}

/** A hash as version 0 or 1 of CIDs writes it. */
export const isHash = (value: string): boolean => /^(Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58,100})$/.test(value)
