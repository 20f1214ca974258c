import { chooseLanguage, chosenLanguage, type Language, languages } from '../../texts/language.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { type Theme, useTheme } from './theme.ts'

const themes: readonly Theme[] = ['system', 'light', 'dark']

export function Appearance() {
  const [theme, choose] = useTheme()
  return (
    <>
      <fieldset className="segments">
        <legend className="label">{t.themes.title}</legend>
        {themes.map((option) => (
          <label key={option}>
            <input type="radio" name="theme" checked={theme === option} onChange={() => choose(option)} />
            <span className="segment">{t.themes[option]}</span>
          </label>
        ))}
      </fieldset>
      <label className="field">
        <span>{t.language.title}</span>
        <select
          className="input"
          value={chosenLanguage() ?? ''}
          onChange={({ target }) => chooseLanguage((target.value || null) as Language | null)}
        >
          <option value="">{t.language.browser}</option>
          {Object.entries(languages).map(([language, name]) => (
            <option key={language} value={language} lang={language}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}
