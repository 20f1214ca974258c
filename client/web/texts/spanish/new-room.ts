import type { TextTranslation } from '../catalog.ts'
import type { newRoomTexts as english } from '../new-room.ts'

export const newRoomTexts: TextTranslation<typeof english> = {
  title: 'Sala nueva',
  type: 'Tipo de sala',
  name: 'Nombre',
  about: 'Descripción (opcional)',
  cancel: 'Cancelar',
  creating: 'Creando…',
  createChannel: {
    title: 'Canal',
    hint: 'Abierto a todos. Es tuyo y tú pones sus reglas.',
    create: 'Crear canal',
  },
  createGroup: {
    title: 'Grupo',
    hint: 'Solo con invitación. Los amigos entran enseguida, los demás tienen que aceptar.',
    create: 'Crear grupo',
    members: 'Nombres, @usuarios o direcciones de los miembros (opcional)',
  },
  createTokenRoom: {
    title: 'Sala de token',
    hint: 'Para quienes tienen un token. Su cadena se comprueba cada vez que alguien se une.',
    create: 'Crear sala de token',
    address: 'Dirección del token, ERC-20 o ERC-721 (0x…)',
    chain: 'ID de la cadena',
    least: 'Saldo mínimo de los miembros',
    addressInvalid: 'La dirección de un token es 0x y 40 dígitos o letras de la a a la f.',
    chainUnknown: 'Este servidor no admite esta cadena.',
    tooFine: 'Este token tiene como máximo {decimals} decimales.',
  },
  createLocationRoom: {
    title: 'Sala de lugar',
    hint: 'Para personas cerca del lugar donde estás ahora.',
    create: 'Crear sala de lugar',
    radius: 'Radio en metros (de 50 a 50.000)',
    privacy:
      'El lugar es la posición de tu navegador cuando creas la sala, con una precisión de unos diez metros. Todos pueden verlo. Los miembros declaran su propia posición, que nadie puede verificar. Un lugar tiene una sola sala; si ya existe, se abre.',
  },
}
