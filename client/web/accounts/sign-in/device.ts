import { explainErrors } from '../../kit/problem.ts'
import { outerProblemTexts } from '../../texts/sign-in.ts'

export { startAuthentication, startRegistration } from '@simplewebauthn/browser'

const texts: Readonly<Record<string, string>> = outerProblemTexts.devices

explainErrors((error) =>
  error instanceof Error && Object.hasOwn(texts, error.name) ? (texts[error.name] ?? null) : null,
)
