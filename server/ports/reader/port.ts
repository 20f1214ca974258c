/** How a document is read: `page` keeps all the text of HTML, `article` what a person would read of it. */
export type ReadAs = 'page' | 'article' | 'pdf' | 'markdown' | 'text'

export interface ReadDocument {
  title: string | null
  /** One line for each block; without encoded bytes, which mean nothing to a model. At most 2,000,000 characters. */
  text: string
  /** What links lead to, as it is written, and the base that the document names for them. */
  links: readonly string[]
  base: string | null
}

/** What a file may be: a JPEG, PNG, GIF or WebP; a voice message as browsers record it. */
export type FileKind = 'picture' | 'sound'

/** A file without what is written about it, and with the ending that its bytes ask for. */
export interface CleanFile {
  ending: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Reads what strangers wrote, apart from what must go on meanwhile. Throws SERVICE_UNAVAILABLE where nothing can be read at all. */
export interface Reader {
  /** Throws TIMEOUT where it takes too long, and UPSTREAM_ERROR where nothing can be read. */
  read(as: ReadAs, document: Uint8Array | string): Promise<ReadDocument>
  /**
   * Null where the bytes are of none of these kinds. Throws PAYLOAD_TOO_LARGE where they would be shown too large or are of too many pieces,
   * TIMEOUT where they take too long, and UPSTREAM_ERROR where they end what reads them.
   */
  clean(kinds: readonly FileKind[], file: Uint8Array): Promise<CleanFile | null>
}
