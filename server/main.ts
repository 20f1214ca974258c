import { isProduction } from './environment.ts'
import { isLed, lead } from './lead.ts'

if (isProduction() && !isLed()) lead()
else await import('./serve.ts')
