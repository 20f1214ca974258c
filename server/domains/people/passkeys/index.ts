import { defineDomain } from '#server/kernel/domain'
import { passkeys as contract } from '#shared/api/people/passkeys'
import { beginLogin, login } from './login.ts'
import { checkMigration, current, list, remove } from './management.ts'
import { recoverable, recoverByEmail, verifyRecovery } from './recovery.ts'
import { beginRegistration, register } from './registration.ts'
import { passkeySettings } from './settings.ts'

export const passkeys = defineDomain(
  contract,
  {
    beginRegistration,
    register,
    beginLogin,
    login,
    list,
    current,
    remove,
    checkMigration,
    recoverable,
    recoverByEmail,
    verifyRecovery,
  },
  { settings: passkeySettings },
)
