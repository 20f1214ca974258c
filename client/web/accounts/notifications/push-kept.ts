const kept = 'plaza.push'

/** The account whose events notify this browser while the page is closed; null for none. */
export const pushKept = (): string | null => localStorage.getItem(kept)

export function keepPush(account: string | null): void {
  if (account === null) localStorage.removeItem(kept)
  else localStorage.setItem(kept, account)
}

/** Closes the notifications of the time without a page whose tags have nothing new. */
export async function closeRead(isRead: (tag: string) => boolean): Promise<void> {
  if (pushKept() === null) return
  const worker = await navigator.serviceWorker?.getRegistration()
  for (const notice of (await worker?.getNotifications()) ?? []) if (isRead(notice.tag)) notice.close()
}
