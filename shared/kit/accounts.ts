const invisible = /\u200b|\u200c|\u200d|\u2060|\ufeff/g
const isHex = (account: string): boolean => /^0x/i.test(account)

/** One way to write each account id: no invisible characters, `0x` addresses in lower case, the rest as it is. */
export const canonicalAddress = (value: string): string => {
  const bare = value.replace(invisible, '').trim()
  return isHex(bare) ? bare.toLowerCase() : bare
}

/** Acts where no account does, as in the removal of old messages. */
export const serverActor = 'plaza'

type Named = string | null | undefined

/** Do both name the same account? Addresses of Ethereum's kind have one meaning in either case (EIP-55); every other id is exact. */
export const isSameAccount = (one: Named, other: Named): boolean =>
  one === other || (!!one && isHex(one) && one.toLowerCase() === other?.toLowerCase())
