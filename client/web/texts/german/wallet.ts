import type { TextTranslation } from '../catalog.ts'
import type { walletTexts as english } from '../wallet.ts'

export const walletTexts: TextTranslation<typeof english> = {
  title: 'Wallet',
  loading: 'Deine Wallet wird geladen',
  empty: 'Noch keine Wallet',
  emptyHint:
    'Deine Wallet ist ein Smart Account, der mit einem Passkey erstellt wird. Er hat auf jeder Chain dieselbe Adresse.',
  addPasskey: 'Passkey hinzufügen',
  address: 'Adresse',
  copy: 'Kopieren',
  copied: 'Kopiert.',
  notCopied: 'Der Browser hat das Kopieren nicht erlaubt.',
  signer: 'Signiert von',
  signers: {
    eoa: 'Deiner eigenen Wallet',
    passkey: 'Deinem ersten Passkey',
    none: 'Noch niemandem',
  },
  chain: 'Auf der Chain',
  deployed: 'Bereitgestellt',
  notDeployed: 'Noch nicht. Sie kann Guthaben empfangen und wird mit ihrer ersten Transaktion bereitgestellt.',
  safe: 'In der Safe-App öffnen',
  balances: 'Guthaben anzeigen',
  balancesLoading: 'Guthaben werden geladen',
  balanceOn: '{symbol} auf {chain}',
  unavailable: 'gerade nicht verfügbar',
  guestWarning:
    'Deine eigene Wallet ist ein Schlüssel, der nur in diesem Browser liegt. Wenn du seine Daten löschst, ist das Guthaben verloren. Wähle eine andere Wallet.',
}
