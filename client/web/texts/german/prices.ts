import type { TextTranslation } from '../catalog.ts'
import type { priceTexts as english } from '../prices.ts'

export const priceTexts: TextTranslation<typeof english> = {
  costs: '{what, select, call {Was dieser Anruf kostet} other {Was diese Antwort kostet}}',
  price: '{what, select, call {<b>{amount}</b> für diesen Anruf} other {<b>{amount}</b> für diese Antwort}}',
  payee:
    '{money, select, real {In USDC auf {network}, gezahlt an <payee></payee>.} other {In USDC auf {network} (Testgeld), gezahlt an <payee></payee>.}}',
  noWallet:
    'In diesem Browser gibt es keine Wallet. Füge die Erweiterung einer Wallet hinzu oder öffne diese Seite im Browser deiner Wallet-App.',
  payWith: 'Mit {name} bezahlen',
  payTest: 'Mit einer Test-Wallet bezahlen',
  notNow: 'Nicht jetzt',
  testHint:
    'Die Test-Wallet ist ein Schlüssel, den dieser Browser erstellt und behält. Sie ist leer: Dieser Server prüft nur die Signatur, und es fließt kein Geld.',
  testWallet: 'Test-Wallet',
  testIsNotReal: 'Die Test-Wallet hat kein echtes Geld.',
  refused: 'Der Server hat diese Zahlung nicht angenommen. Es wurde nichts abgebucht.',
  problems: {
    INVALID_PAYMENT:
      'Diese Zahlung war für etwas anderes und gilt nur dafür. Hier wurde nichts abgebucht: Versuche es mit einer neuen Zahlung.',
    WRONG_NETWORK: 'Die Zahlung war für ein anderes Netzwerk. Es wurde nichts abgebucht.',
    INSUFFICIENT_PAYMENT: 'Die Wallet hat zu wenig USDC, oder der Preis hat sich geändert. Es wurde nichts abgebucht.',
    PAYMENT_EXPIRED:
      'Die Zahlung kam zu spät. Es wurde nichts abgebucht. Wenn das wieder passiert, prüfe die Uhr dieses Geräts.',
    X402_PAYMENT_FAILED: 'Die Zahlung ist fehlgeschlagen. Es wurde nichts abgebucht.',
    X402_NOT_ENABLED: 'Dieser Agent ist jetzt kostenlos. Lade die Seite neu, um ihn zu fragen.',
    AGENT_NOT_PUBLIC: 'Dieser Agent ist nicht mehr öffentlich.',
    AGENT_NOT_FOUND: 'Dieser Agent wurde gelöscht.',
  },
}
