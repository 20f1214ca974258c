export type Claims = Readonly<Record<string, unknown>>

/** An expired token was signed by the partner all the same, so it carries its claims. */
type PartnerVerdict =
  | { valid: true; claims: Claims }
  | { valid: false; reason: 'expired'; claims: Claims }
  | { valid: false; reason: 'refused' }

/** Verifies a partner's token. Throws UPSTREAM_ERROR or TIMEOUT without keys. */
export interface PartnerTokens {
  verify(token: string, now: number): Promise<PartnerVerdict>
}
