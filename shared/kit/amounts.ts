/** An amount of smallest units as people write it: `1050` with two decimals is `10.5`. */
export function amountText(units: bigint | string, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return rest === '' ? whole : `${whole}.${rest}`
}

/** The same backwards; null where it is no amount, or has more places than the decimals. */
export function unitsOf(amount: string, decimals: number): string | null {
  const [, whole, rest = ''] = /^(\d{1,60})(?:\.(\d{1,60}))?$/.exec(amount.trim()) ?? []
  if (whole === undefined || rest.length > decimals) return null
  return String(BigInt(whole + rest.padEnd(decimals, '0')))
}
