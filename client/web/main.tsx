import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createClient } from '#client/sdk/index'
import { hideFormerKey } from './accounts/guest.ts'
import { App } from './app.tsx'

const page = document.getElementById('page')
const client = createClient({ url: location.origin, session: 'cookie' })

void hideFormerKey()

if (page) {
  createRoot(page).render(
    <StrictMode>
      <App client={client} />
    </StrictMode>,
  )
}
