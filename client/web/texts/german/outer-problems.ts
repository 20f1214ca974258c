import type { TextTranslation } from '../catalog.ts'
import type { outerProblemTexts as english } from '../outer-problems.ts'

export const outerProblemTexts: TextTranslation<typeof english> = {
  devices: {
    NotAllowedError:
      'Dein Gerät hat nicht geantwortet, oder du hast sein Fenster geschlossen. Es wurde nichts geändert.',
    AbortError: 'Dein Gerät hat nicht geantwortet, oder du hast sein Fenster geschlossen. Es wurde nichts geändert.',
    InvalidStateError: 'Dieses Gerät hat schon einen Passkey für dieses Konto.',
    NotSupportedError: 'Dieses Gerät unterstützt solche Passkeys nicht.',
    SecurityError: 'Passkeys funktionieren unter dieser Adresse der Website nicht.',
  },
  wallets: {
    declined: 'Die Wallet hat die Anfrage abgelehnt. Es wurde nichts signiert.',
    notAllowed: 'Deine Wallet blockiert diese Website. Erlaube sie dort und versuche es noch einmal.',
    unsupported: 'Diese Wallet kann keine Nachrichten signieren.',
    disconnected: 'Deine Wallet ist nicht verbunden. Öffne sie und versuche es noch einmal.',
    pending: 'Deine Wallet hat eine offene Anfrage. Beantworte sie dort und versuche es noch einmal.',
    failed: 'Die Wallet konnte nicht signieren. Entsperre sie und versuche es noch einmal.',
  },
}
