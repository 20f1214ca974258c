import type { TextTranslation } from '../catalog.ts'
import type { priceTexts as english } from '../prices.ts'

export const priceTexts: TextTranslation<typeof english> = {
  costs: '{what, select, call {Cuánto cuesta esta llamada} other {Cuánto cuesta esta respuesta}}',
  price: '{what, select, call {<b>{amount}</b> por esta llamada} other {<b>{amount}</b> por esta respuesta}}',
  payee:
    '{money, select, real {En USDC en {network}, pagado a <payee></payee>.} other {En USDC en {network} (dinero de prueba), pagado a <payee></payee>.}}',
  noWallet:
    'No hay ninguna billetera en este navegador. Añade la extensión de una, o abre esta página en el navegador de tu app de billetera.',
  payWith: 'Pagar con {name}',
  payTest: 'Pagar con una billetera de prueba',
  notNow: 'Ahora no',
  testHint:
    'La billetera de prueba es una clave que este navegador crea y guarda. Está vacía: este servidor solo comprueba la firma y no se mueve dinero.',
  testWallet: 'Billetera de prueba',
  testIsNotReal: 'La billetera de prueba no tiene dinero real.',
  refused: 'El servidor no aceptó este pago. No se cobró nada.',
  problems: {
    INVALID_PAYMENT:
      'Este pago se hizo para otra cosa y solo vale para ella. Aquí no se cobró nada: inténtalo con un pago nuevo.',
    WRONG_NETWORK: 'El pago era para otra red. No se cobró nada.',
    INSUFFICIENT_PAYMENT: 'La billetera tiene muy pocos USDC, o el precio ha cambiado. No se cobró nada.',
    PAYMENT_EXPIRED:
      'El pago llegó demasiado tarde. No se cobró nada. Si se repite, revisa el reloj de este dispositivo.',
    X402_PAYMENT_FAILED: 'El pago falló. No se cobró nada.',
    X402_NOT_ENABLED: 'Este agente ahora es gratis. Recarga la página para preguntarle.',
    AGENT_NOT_PUBLIC: 'Este agente ya no es público.',
    AGENT_NOT_FOUND: 'Este agente fue eliminado.',
  },
}
