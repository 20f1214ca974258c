import { isLed, isProduction, lead } from './lead.ts'

if (isProduction() && !isLed()) lead()
else {
  // Without its parent this process ends, also while it starts.
  if (isLed() && !process.connected) process.exit(1)
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  await import('./serve.ts')
}
