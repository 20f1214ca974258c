import { useState } from 'react'

export type Theme = 'system' | 'light' | 'dark'
const key = 'plaza.theme'

/** The theme of the page; `system` follows the device. Kept in this browser. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => readTheme(localStorage.getItem(key)))
  const choose = (next: Theme) => {
    if (next === 'system') {
      delete document.documentElement.dataset.theme
      localStorage.removeItem(key)
    } else {
      document.documentElement.dataset.theme = next
      localStorage.setItem(key, next)
    }
    setTheme(next)
  }
  return [theme, choose]
}

const readTheme = (kept: string | null): Theme => (kept === 'light' || kept === 'dark' ? kept : 'system')
