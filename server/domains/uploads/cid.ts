import { createHash } from 'node:crypto'
import { base32nopad } from '@scure/base'

/** Version 1, the codec of raw bytes, SHA-256, and the length of that. */
const prefix = [0x01, 0x55, 0x12, 0x20]

/** The hash (CID) of bytes as one block, as IPFS computes it. */
export const cidOf = (bytes: Uint8Array): string =>
  `b${base32nopad.encode(new Uint8Array([...prefix, ...createHash('sha256').update(bytes).digest()])).toLowerCase()}`
