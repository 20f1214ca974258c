import { useState } from 'react'

/** What each part of the look can be; the first is the page's own. `public/looks.js` sets them before the first paint, so that nothing flashes. */
export const looks = {
  theme: ['system', 'light', 'dark'],
  size: ['normal', 'small', 'large', 'largest'],
  density: ['comfortable', 'compact'],
} as const

/** One part of the look of the page, and its choice. Kept in this browser. */
export function useLook(name: keyof typeof looks): [string, (next: string) => void] {
  const options: readonly string[] = looks[name]
  const [own] = looks[name]
  const key = `plaza.${name}`
  const [look, setLook] = useState<string>(() => options.find((one) => one === localStorage.getItem(key)) ?? own)
  const choose = (next: string) => {
    if (next === own) {
      delete document.documentElement.dataset[name]
      localStorage.removeItem(key)
    } else {
      document.documentElement.dataset[name] = next
      localStorage.setItem(key, next)
    }
    setLook(next)
  }
  return [look, choose]
}
