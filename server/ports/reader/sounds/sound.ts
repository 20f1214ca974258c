import { TooManyPieces } from '../pictures/picture.ts'

/** A voice message as browsers record it, without what is written about it. */
export interface Sound {
  ending: 'weba' | 'ogg' | 'm4a'
  /** As many as were given: what is no sound is blank, so that all that points into the file still does. */
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
