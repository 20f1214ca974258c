const kept = 'plaza.push'

/** The account of which this browser is told while the page is closed; null where it is told of none. */
export const pushKept = (): string | null => localStorage.getItem(kept)

export function keepPush(account: string | null): void {
  if (account === null) localStorage.removeItem(kept)
  else localStorage.setItem(kept, account)
}

/** Takes away what this browser was told, while no page was open, under those of these tags of which nothing is new. */
export async function closeRead(isRead: (tag: string) => boolean): Promise<void> {
  if (pushKept() === null) return
  const worker = await navigator.serviceWorker?.getRegistration()
  for (const notice of (await worker?.getNotifications()) ?? []) if (isRead(notice.tag)) notice.close()
}
