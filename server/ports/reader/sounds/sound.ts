import { TooManyPieces } from '../pictures/picture.ts'

/** A voice message as browsers record it, without what is written about it. */
export interface Sound {
  ending: 'weba' | 'ogg' | 'm4a'
  /** As long as the input: bytes other than sound are blank, so that offsets into the file stay valid. */
  bytes: Buffer<ArrayBuffer>
}

/** Blocks, boxes and pages. Twenty minutes in steps of 10 ms are 120,000; each costs time, however short it is. */
export const mostPieces = 200_000

/** Counts the pieces of a file; throws where they are too many. */
export function pieceCounter(): () => void {
  let pieces = 0
  return () => {
    pieces += 1
    if (pieces > mostPieces) throw new TooManyPieces()
  }
}
