import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient } from '#client/sdk/client'
import { browserKeys } from '#client/sdk/direct/store'
import { guestWallet, hideFormerKey, isGuest } from './accounts/sign-in/guest.ts'
import { App } from './app.tsx'
import { loadLanguage } from './texts/language.ts'

const page = document.getElementById('page')
const client = createClient({
  url: location.origin,
  session: 'cookie',
  keys: browserKeys(),
  vouchedBy: async (account) => (isGuest(account) ? guestWallet() : null),
})

void hideFormerKey()

void loadLanguage().then(() => {
  if (!page) return
  createRoot(page).render(
    <StrictMode>
      <App client={client} />
    </StrictMode>,
  )
})
