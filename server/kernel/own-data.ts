/** A field of a stored row, or one below it. */
type FieldOf<Row> = (keyof Row & string) | `${keyof Row & string}.${string}`

/** Where the account stands in the field: it is the whole of it, one of its words, or somewhere inside. */
type Place = 'first word' | 'last word' | 'inside'

/** What becomes of a row when the account is erased. */
type Fate<Field> =
  /** The row goes with the account. */
  | { becomes: 'erase' }
  /** The row stays for others, as that of a deleted account. `clears` are emptied. */
  | { becomes: 'unlink'; clears?: readonly Field[] }
  /** Somebody else becomes the owner, by this rule. */
  | { becomes: 'hand over'; rule: string }
  /** The row stays for this reason and time, as that of a deleted account. */
  | { becomes: 'keep'; reason: string; days: number | 'permanently'; clears?: readonly Field[] }

/** Whose a row is, by one of its fields. */
export type Share<Field extends string = string> = Fate<Field> & {
  /** The field that names the account; null where the row names none and is kept for its time. */
  owner: Field | null
  at?: Place
  /** The field names a row of this model, and the account is the one whose row that is. */
  through?: string
  /** False where this person is never shown the row. */
  archive?: false
  /** Fields that are not shown to this person. */
  hides?: readonly Field[]
  /** Rows with these values are not shown to this person. */
  unless?: { readonly [field: string]: string | boolean }
}

interface Declared<Field extends string> {
  shares: readonly Share<Field>[]
  /** The domain of the contract in whose file an archive has the rows, or why it never has them. */
  archive: string | { never: string }
  /** Fields that no archive has: hashes, keys, and what others have written about the person. */
  secret?: readonly Field[]
  /** Fields that only sound like another person's, or a secret, or are what the row is kept for. */
  stays?: readonly Field[]
}

/** What a model holds of people: whose each row is, and what becomes of it. */
export type OwnData<Row = { [field: string]: unknown }> = "nobody's" | Declared<FieldOf<Row>>

/** What an archive of an account has of a model. */
export interface Archived {
  model: string
  domain: string
  shares: readonly Share[]
  secret: readonly string[]
}

/** The part of a declaration that an archive is made of; null where it has nothing of the model. */
export function archivedOf(model: string, own: OwnData): Archived | null {
  if (own === "nobody's" || typeof own.archive !== 'string') return null
  const shares = own.shares.filter(({ owner, at, archive }) => owner !== null && at !== 'inside' && archive !== false)
  return shares.length === 0 ? null : { model, domain: own.archive, shares, secret: own.secret ?? [] }
}
