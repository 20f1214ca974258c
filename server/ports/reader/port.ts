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

/** Reads documents that strangers wrote, apart from what must go on meanwhile. */
export interface Reader {
  /** Throws TIMEOUT where it takes too long, and UPSTREAM_ERROR where nothing can be read. */
  read(as: ReadAs, document: Uint8Array | string): Promise<ReadDocument>
}
