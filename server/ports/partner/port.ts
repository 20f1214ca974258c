export type Claims = Readonly<Record<string, unknown>>

/** An expired token was signed by the partner all the same, so it carries its claims. */
type PartnerVerdict =
  | { valid: true; claims: Claims }
  | { valid: false; reason: 'expired'; claims: Claims }
  | { valid: false; reason: 'refused' }

/** Checks who signed a partner's token. Throws UPSTREAM_ERROR or TIMEOUT where the keys cannot be had. */
export interface PartnerTokens {
  verify(token: string, now: number): Promise<PartnerVerdict>
}
