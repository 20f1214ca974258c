/** How a document is read: `page` keeps all the text of HTML, `article` what a person would read of it. */
export type ReadAs = 'page' | 'article' | 'pdf' | 'markdown' | 'text'

/** What is said of a document by who sent it: its content type, and the path at which it is. By these HTML turns out to be Markdown, or plain text. */
export interface Said {
  type: string
  path: string
}

/** For whom it is read, who take turns, and until when. */
export interface Turn {
  of: string
  signal: AbortSignal
}

export interface ReadDocument {
  title: string | null
  /** One line for each block or row of a table, and code as it is written; without encoded bytes, which mean nothing to a model. At most 2,000,000 characters. */
  text: string
  /** What links lead to, as it is written, and the base that the document names for them. */
  links: readonly string[]
  base: string | null
  /** The page on which a list goes on (`rel="next"`); absent where none is named. */
  next?: string
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
  /** Throws TIMEOUT where it takes too long, UNSUPPORTED_MEDIA_TYPE where it has no text, which says why, and UPSTREAM_ERROR where it cannot be read. */
  read(as: ReadAs, document: Uint8Array | string, said?: Said, turn?: Turn): Promise<ReadDocument>
  /**
   * Null where the bytes are of none of these kinds. Throws PAYLOAD_TOO_LARGE where they would be shown too large or are of too many pieces,
   * TIMEOUT where they take too long, and UPSTREAM_ERROR where they end what reads them.
   */
  clean(kinds: readonly FileKind[], file: Uint8Array): Promise<CleanFile | null>
}
