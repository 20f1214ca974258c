import { Icon } from '../kit/icon.tsx'
import { useTheme } from './theme.ts'

/** Switches between the light and the dark theme. */
export function ThemeButton() {
  const [theme, choose] = useTheme()
  const isDark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={isDark ? 'Use the light theme' : 'Use the dark theme'}
      title={isDark ? 'Use the light theme' : 'Use the dark theme'}
      onClick={() => choose(isDark ? 'light' : 'dark')}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  )
}
