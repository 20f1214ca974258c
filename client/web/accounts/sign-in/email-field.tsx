import type { ProblemWords } from '../../kit/problem.ts'
import { signInTexts as t } from '../../texts/sign-in.ts'

export const emailWords: ProblemWords = { VALIDATION_ERROR: t.emailInvalid }

export function EmailField(props: { value: string; onChange: (email: string) => void }) {
  return (
    <label className="field">
      <span>{t.email}</span>
      <input
        className="input"
        type="email"
        name="email"
        autoComplete="email"
        required
        maxLength={254}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </label>
  )
}
