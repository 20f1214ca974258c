/** The origins from which browsers may call, compared exactly; never `null`. */
export const originRule = (allowed: readonly string[]) => {
  const exact = new Set(allowed)
  return {
    /** A request without both headers comes from no browser. */
    allows(origin: string | undefined, fetchSite: string | undefined): boolean {
      if (origin !== undefined) return exact.has(origin)
      return fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none'
    },
    has: (origin: string) => exact.has(origin),
  }
}
export type OriginRule = ReturnType<typeof originRule>
