import { textCatalog } from './catalog.ts'

export const walletTexts = textCatalog('wallet', {
  title: 'Wallet',
  loading: 'Loading your wallet',
  empty: 'No wallet yet',
  emptyHint: 'Your wallet is a smart account that is created with a passkey. It has the same address on every chain.',
  addPasskey: 'Add a passkey',
  address: 'Address',
  copy: 'Copy',
  copied: 'Copied.',
  notCopied: 'The browser did not allow copying.',
  signer: 'Signed by',
  signers: {
    eoa: 'Your own wallet',
    passkey: 'Your first passkey',
    none: 'No one yet',
  },
  chain: 'On chain',
  deployed: 'Deployed',
  notDeployed: 'Not yet. It can receive funds, and is deployed with its first transaction.',
  safe: 'Open in the Safe app',
  balances: 'Show balances',
  balancesLoading: 'Loading balances',
  balanceOn: '{symbol} on {chain}',
  unavailable: 'not available at the moment',
  guestWarning:
    'Your own wallet is a key in this browser only. If you clear its data, the funds are lost. Choose another wallet.',
})
