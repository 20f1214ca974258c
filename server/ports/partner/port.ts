export type PartnerVerdict =
  | { valid: true; claims: Readonly<Record<string, unknown>> }
  | { valid: false; reason: 'expired' | 'refused' }

/** Checks who signed a partner's token. Throws UPSTREAM_ERROR or TIMEOUT where the keys cannot be had. */
export interface PartnerTokens {
  verify(token: string): Promise<PartnerVerdict>
}
