import type { TextTranslation } from '../catalog.ts'
import type { gatedRoomTexts as english } from '../gated-rooms.ts'

export const gatedRoomTexts: TextTranslation<typeof english> = {
  open: 'Abrir',
  openOf: 'Abrir {name}',
  join: 'Unirse',
  joinOf: 'Unirse a {name}',
  near: {
    title: 'Salas cerca de mí',
    hint: 'Los lugares pueden tener una sala para quienes están allí.',
    empty: 'No hay salas a menos de {distance}',
    create: 'Crear una',
    refresh: 'Actualizar',
    about:
      'A {distance} · {count, plural, one {# miembro} many {# de miembros} other {# miembros}} · en un radio de {radius}',
  },
  tokens: {
    title: 'De mis tokens',
    hint: 'Cada evento tiene una sala para todos los que tienen su token.',
    hintFor: 'Cada evento tiene una sala para todos los que tienen su token. Comprobado para {addresses}.',
    and: '{first} y {second}',
    empty: 'No se encontraron tokens',
    others: 'Para quienes tienen otros tokens',
    create: 'Crear',
    createOf: 'Crear el canal de {name}',
    incomplete: 'El proveedor de tokens no respondió por completo. La lista puede estar incompleta.',
    unavailable: 'Este servidor no busca todos los tokens, porque no hay ningún proveedor de tokens configurado.',
    members: '{count, plural, one {# miembro} many {# de miembros} other {# miembros}}',
    noChannel: 'Aún no hay canal',
    event: 'Evento · {about}',
    collection: 'Colección de {count, plural, one {# evento} many {# de eventos} other {# eventos}} · {about}',
  },
}
