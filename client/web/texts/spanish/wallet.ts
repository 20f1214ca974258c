import type { TextTranslation } from '../catalog.ts'
import type { walletTexts as english } from '../wallet.ts'

export const walletTexts: TextTranslation<typeof english> = {
  title: 'Billetera',
  loading: 'Cargando tu billetera',
  empty: 'Aún no hay billetera',
  emptyHint:
    'Tu billetera es una cuenta inteligente que se crea con una llave de acceso. Tiene la misma dirección en todas las cadenas.',
  addPasskey: 'Añadir una llave de acceso',
  address: 'Dirección',
  copy: 'Copiar',
  copied: 'Copiado.',
  notCopied: 'El navegador no permitió copiar.',
  signer: 'Firmada por',
  signers: {
    eoa: 'Tu propia billetera',
    passkey: 'Tu primera llave de acceso',
    none: 'Nadie todavía',
  },
  chain: 'En la cadena',
  deployed: 'Desplegada',
  notDeployed: 'Aún no. Puede recibir fondos y se despliega con su primera transacción.',
  safe: 'Abrir en la aplicación Safe',
  balances: 'Mostrar saldos',
  balancesLoading: 'Cargando saldos',
  balanceOn: '{symbol} en {chain}',
  unavailable: 'no disponible en este momento',
  guestWarning:
    'Tu propia billetera es una clave que está solo en este navegador. Si borras sus datos, los fondos se pierden. Elige otra billetera.',
}
