import { Icon } from '../../kit/icon.tsx'
import { welcomeTexts as t } from '../../texts/welcome.ts'
import { useLook } from './looks.ts'

/** Switches between the light and the dark theme. */
export function ThemeButton() {
  const [theme, choose] = useLook('theme')
  const isDark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={isDark ? t.theme.light : t.theme.dark}
      title={isDark ? t.theme.light : t.theme.dark}
      onClick={() => choose(isDark ? 'light' : 'dark')}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  )
}
