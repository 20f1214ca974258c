/** A field of a stored row, or a nested one. */
type FieldOf<Row> = (keyof Row & string) | `${keyof Row & string}.${string}`

/** The position of the account in the field; by default the whole field. */
type OwnerPosition = 'first word' | 'last word' | 'inside'

/** The fate of a row when the account is erased. */
type Fate<Field> =
  /** The row is deleted with the account. */
  | { becomes: 'erase' }
  /** The row stays for others, as one of a deleted account; `clears` are emptied. */
  | { becomes: 'unlink'; clears?: readonly Field[] }
  /** Another account becomes the owner, by this rule. */
  | { becomes: 'hand over'; rule: string }
  /** The row stays for this reason and time, as one of a deleted account. */
  | { becomes: 'keep'; reason: string; days: number | 'permanently'; clears?: readonly Field[] }

/** The owner of a row, by one of its fields. */
export type Share<Field extends string = string> = Fate<Field> & {
  /** The field with the account; null if the row names none and is kept for its time. */
  owner: Field | null
  at?: OwnerPosition
  /** The field names a row of this model, and the owner of that row is the owner. */
  through?: string
  /** Further fields of a row that stays in which the account may be named, as in addresses of files. */
  renames?: readonly Field[]
  /** False if this person never gets the row. */
  archive?: false
  /** Fields that this person does not get. */
  hides?: readonly Field[]
  /** Rows with these values, which this person does not get. */
  unless?: { readonly [field: string]: string | boolean }
}

interface DeclaredData<Field extends string> {
  shares: readonly Share<Field>[]
  /** The domain whose file in an archive has the rows, or the reason why none has. */
  archive: string | { never: string }
  /** Fields that no archive has: hashes, keys, and texts of others about the person. */
  secret?: readonly Field[]
  /** Fields that only sound like a person or a secret, or are the reason for keeping the row. */
  stays?: readonly Field[]
}

/** The personal data of a model: the owner of each row, and its fate. */
export type OwnData<Row = { [field: string]: unknown }> = "nobody's" | DeclaredData<FieldOf<Row>>

/** The part of a model that an archive of an account has. */
export interface ArchivedModel {
  model: string
  domain: string
  shares: readonly Share[]
  secret: readonly string[]
}

/** The part of a declaration for archives; null if they have nothing of the model. */
export function archivedModelOf(model: string, own: OwnData): ArchivedModel | null {
  if (own === "nobody's" || typeof own.archive !== 'string') return null
  const shares = own.shares.filter(({ owner, at, archive }) => owner !== null && at !== 'inside' && archive !== false)
  return shares.length === 0 ? null : { model, domain: own.archive, shares, secret: own.secret ?? [] }
}
