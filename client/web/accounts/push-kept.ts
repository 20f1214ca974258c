const kept = 'plaza.push'

/** The account of which this browser is told while the page is closed; null where it is told of none. */
export const pushKept = (): string | null => localStorage.getItem(kept)

export function keepPush(account: string | null): void {
  if (account === null) localStorage.removeItem(kept)
  else localStorage.setItem(kept, account)
}
