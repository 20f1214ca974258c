import type { kitTexts as english } from '../kit.ts'
import type { SimpleTranslation } from '../simple-catalog.ts'

export const kitTexts: SimpleTranslation<typeof english> = {
  close: 'Cerrar',
  retry: 'Reintentar',
  deletedUser: 'Cuenta eliminada',
  loading: 'Cargando',
  reload: 'Recargar',
  notLoaded: 'No se pudo cargar esta parte de la página.',
  tooMuch: 'Demasiadas solicitudes.',
  retrying: 'Nuevo intento en {time}.',
  today: 'Hoy',
  yesterday: 'Ayer',
  units: {
    d: '{count} d',
    h: '{count} h',
    min: '{count} min',
    s: '{count} s',
  },
  connection: {
    connecting: 'Conectando',
    online: 'En vivo',
    offline: 'Sin conexión',
    rest: 'En vivo, con retraso',
    closed: 'Desconectado',
  },
  problems: {
    unknown: 'Algo salió mal.',
    unreachable: 'No se puede acceder al servidor en este momento.',
    tooMuch: 'Demasiadas solicitudes. Inténtalo de nuevo en {time}.',
  },
  codes: {
    SERVICE_UNAVAILABLE: 'No se puede acceder al servidor en este momento.',
    INTERNAL_ERROR: 'Algo salió mal en el servidor. Inténtalo de nuevo en un momento.',
    DATABASE_ERROR: 'Algo salió mal en el servidor. Inténtalo de nuevo en un momento.',
    UNAUTHORIZED: 'Inicia sesión para hacer esto.',
    INVALID_SIGNATURE: 'La firma no coincide con esta billetera. Inténtalo de nuevo.',
    NONCE_EXPIRED: 'El mensaje de inicio de sesión ha caducado. Inténtalo de nuevo.',
    INVALID_NONCE: 'El mensaje de inicio de sesión ya se usó. Inténtalo de nuevo.',
    INVALID_CODE: 'Este código es incorrecto. Revísalo e inténtalo de nuevo.',
    PASSKEY_NOT_FOUND: 'Esta llave de acceso no se conoce aquí. Usa otra o crea una cuenta.',
    UPSTREAM_ERROR: 'Un servicio necesario devolvió un error. Inténtalo más tarde.',
    TIMEOUT: 'Un servicio necesario no respondió. Inténtalo más tarde.',
  },
}
