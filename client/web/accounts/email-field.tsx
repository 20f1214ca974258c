import type { ProblemWords } from '../kit/problem.ts'

export const emailWords: ProblemWords = { VALIDATION_ERROR: 'This does not look like a whole e-mail address.' }

export function EmailField(props: { value: string; onChange: (email: string) => void }) {
  return (
    <label className="field">
      <span>E-mail address</span>
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
