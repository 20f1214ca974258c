/** How a document is read: `page` keeps all text of HTML, `article` the main text. `api` lists the operations of an API. */
export type ReadAs = 'page' | 'article' | 'pdf' | 'docx' | 'markdown' | 'text' | 'api'

/** The declared type and path of a document, which show that "HTML" is Markdown or plain text. */
export interface DeclaredType {
  type: string
  path: string
}

/** The reader's turn: for whom, and until when. */
export interface Turn {
  of: string
  signal: AbortSignal
}

export interface ReadDocument {
  title: string | null
  /** One line for each block or row, and code as written. Encoded bytes are left out, as models cannot read them. At most 2,000,000 characters. */
  text: string
  /** Link targets as written, and the document's base for them. */
  links: readonly string[]
  base: string | null
  /** The next page of a list (`rel="next"`), if named. */
  next?: string
}

/** Kinds of files: JPEG, PNG, GIF or WebP; a browser's voice message. */
export type FileKind = 'picture' | 'sound'

/** A file without metadata, with the ending of its format. */
export interface CleanFile {
  ending: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Reads strangers' files in processes of their own. Throws SERVICE_UNAVAILABLE if that is impossible. */
export interface Reader {
  /** Throws TIMEOUT, UNSUPPORTED_MEDIA_TYPE with the reason for a file without text, and UPSTREAM_ERROR if it is unreadable. */
  read(as: ReadAs, document: Uint8Array | string, said?: DeclaredType, turn?: Turn): Promise<ReadDocument>
  /** Null for other kinds. Throws PAYLOAD_TOO_LARGE, TIMEOUT, and UPSTREAM_ERROR if the file crashes its reader. */
  clean(kinds: readonly FileKind[], file: Uint8Array): Promise<CleanFile | null>
}
