import type { TextTranslation } from '../catalog.ts'
import type { signInTexts as english, outerProblemTexts as englishOuterProblemTexts } from '../sign-in.ts'

export const signInTexts: TextTranslation<typeof english> = {
  back: 'Todas las opciones de inicio de sesión',
  recovery: 'Llave de acceso perdida',
  waiting: 'Esperando a tu dispositivo…',
  sending: 'Enviando…',
  checking: 'Comprobando…',
  sendCode: 'Enviar código',
  sendLink: 'Enviar un enlace en su lugar',
  codeSent: 'Enviamos un código a <strong>{email}</strong>. Caduca en 10 minutos.',
  linkSent: 'Enviamos un enlace a <strong>{email}</strong>. Caduca en 15 minutos.',
  email: 'Correo electrónico',
  emailInvalid: 'Escribe un correo electrónico completo.',
  code: 'Código de 6 dígitos',
  resend: 'Reenviar',
  resendIn: 'Reenviar en {time}',
  changeTo: {
    address: 'Cambiar correo electrónico',
    number: 'Cambiar número de teléfono',
  },
  mailbox: {
    letters: 'Este servidor no envía correos: encuentra los tuyos en su <mailbox>buzón</mailbox>.',
    texts: 'Este servidor no envía SMS: encuentra los tuyos en su <mailbox>buzón</mailbox>.',
  },
  passkey: {
    hint: 'Una llave de acceso se guarda en tu dispositivo o en tu gestor de contraseñas. La desbloqueas con tu huella, tu cara o tu PIN.',
    use: 'Usar una llave de acceso',
    create: 'Crear cuenta',
    lost: '¿Perdiste tu llave de acceso?',
    recovered:
      'Tu cuenta está confirmada. Crea una llave de acceso nueva para ella; las anteriores siguen funcionando.',
    createNew: 'Crear una llave de acceso nueva',
    codeSent: 'Si <strong>{email}</strong> pertenece a una cuenta, le enviamos un código.',
    recover:
      'Escribe el correo verificado de tu cuenta. Enviamos un código con el que puedes crear una llave de acceso nueva.',
    rescue: 'Esta llave de acceso se quitó, pero su cuenta aún existe. Su correo electrónico se parece a {email}.',
  },
  wallet: {
    hint: 'Tu billetera te pide firmar un mensaje que nombra este sitio. No mueve fondos ni cuesta nada.',
    waiting: 'Esperando a tu billetera…',
    none: 'No hay ninguna billetera en este navegador',
    noneHint:
      'Instala una extensión de billetera o abre esta página en el navegador de tu aplicación de billetera. Después, inténtalo de nuevo.',
    injected: 'Billetera del navegador',
    solana: 'Billetera de Solana',
    noAccount: 'La billetera no devolvió ninguna cuenta. Desbloquéala y elige una cuenta.',
    unknownChain: 'La billetera no conoce esta red. Añádela allí e inténtalo de nuevo.',
  },
  human: {
    hint: 'En la aplicación del proveedor, crea una prueba para la señal de abajo. Después, pega la prueba aquí.',
    signal: 'Señal',
    action: 'Acción',
    valid: 'Válida para una prueba durante {time}.',
    expired: 'Esta señal ha caducado.',
    renew: 'Mostrar otra',
    proof: 'Prueba (JSON)',
    notJson: 'Esto no es una prueba. Debe ser JSON con merkle_root, nullifier_hash y proof.',
  },
  humanProblems: {
    INVALID_SIGNATURE: 'Esta prueba no es válida o ya se usó. Crea una nueva para la señal de arriba.',
    INVALID_NONCE: 'Esta prueba se hizo para otra señal. Crea una nueva para la señal de arriba.',
    NONCE_EXPIRED: 'La señal de esta prueba ha caducado. Crea una prueba nueva para la señal de arriba.',
    VALIDATION_ERROR: 'Esta prueba está incompleta. Cópiala entera y pégala de nuevo.',
    UPSTREAM_ERROR: 'El servicio de pruebas devolvió un error. Inténtalo más tarde.',
    TIMEOUT: 'El servicio de pruebas no respondió. Inténtalo más tarde.',
  },
  partner: {
    hint: 'Pega el token de nuestro socio. Inicia sesión en la cuenta que nombra.',
    token: 'Token',
  },
  partnerProblems: {
    INVALID_SIGNATURE: 'El socio no firmó este token. Cópialo entero y pégalo de nuevo.',
    UNAUTHORIZED: 'Este token ha caducado o no nombra ninguna cuenta. Pide uno nuevo al socio.',
    VALIDATION_ERROR: 'Este token está incompleto. Cópialo entero y pégalo de nuevo.',
    UPSTREAM_ERROR: 'No se pueden cargar las claves del socio. Inténtalo más tarde.',
    TIMEOUT: 'El socio no respondió. Inténtalo más tarde.',
  },
  signIn: 'Iniciar sesión',
  methods: {
    wallet: 'Billetera de Ethereum',
    solana: 'Billetera de Solana',
    passkey: 'Llave de acceso',
    email: 'Correo electrónico',
    phone: 'Número de teléfono',
    worldid: 'Prueba de humanidad',
    alien: 'Cuenta de socio',
    service: 'Token de servicio',
  },
  methodAdded: 'Se añadió un método de inicio de sesión: {method}. Si no fuiste tú, ve a Ajustes > Dispositivos.',
  methodRemoved: 'Se quitó un método de inicio de sesión: {method}. Si no fuiste tú, ve a Ajustes > Dispositivos.',
  confirm: {
    title: 'Confirma que eres tú',
    hint: 'Por tu seguridad, inicia sesión de nuevo con cualquiera de tus métodos para continuar.',
  },
}

export const outerProblemTexts: TextTranslation<typeof englishOuterProblemTexts> = {
  devices: {
    NotAllowedError: 'Tu dispositivo no respondió o cerraste su ventana. No se cambió nada.',
    AbortError: 'Tu dispositivo no respondió o cerraste su ventana. No se cambió nada.',
    InvalidStateError: 'Este dispositivo ya tiene una llave de acceso para esta cuenta.',
    NotSupportedError: 'Este dispositivo no admite estas llaves de acceso.',
    SecurityError: 'Las llaves de acceso no funcionan en esta dirección del sitio.',
  },
  wallets: {
    declined: 'La billetera rechazó la solicitud. No se firmó nada.',
    notAllowed: 'Tu billetera bloquea este sitio. Permítelo allí e inténtalo de nuevo.',
    unsupported: 'Esta billetera no puede firmar mensajes.',
    disconnected: 'Tu billetera no está conectada. Ábrela e inténtalo de nuevo.',
    pending: 'Tu billetera tiene una solicitud abierta. Respóndela allí e inténtalo de nuevo.',
    failed: 'La billetera no pudo firmar. Desbloquéala e inténtalo de nuevo.',
  },
}
