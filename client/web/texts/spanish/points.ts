import type { TextTranslation } from '../catalog.ts'
import type { pointTexts as english } from '../points.ts'

export const pointTexts: TextTranslation<typeof english> = {
  count: '{count, plural, one {# punto} many {# de puntos} other {# puntos}}',
  earned: '{count, plural, one {# punto obtenido} many {# de puntos obtenidos} other {# puntos obtenidos}}.',
  refused: '{reason}.',
  worth: 'puntos',
  earn: 'Gana puntos',
  claim: 'Reclamar',
  claimOf: 'Reclamar: {title}',
  go: 'Ir allí',
  goTo: 'Ir allí: {title}',
  done: 'Hecho',
  daily: {
    title: 'Bono diario',
    hint: 'Una vez al día. Los días empiezan a medianoche UTC.',
    claim: 'Reclamar el bono diario',
    again: 'De nuevo en {time}',
  },
  actions: {
    phone_verified: 'Verificar un número de teléfono',
    email_verified: 'Verificar un correo electrónico',
    five_friends: 'Tener cinco amigos',
    ens_primary: 'Definir un nombre ENS principal',
    username_claimed: 'Elegir un nombre de usuario',
    social_added: 'Añadir un perfil social',
  },
  hints: {
    phone_verified: 'En «Inicio de sesión y seguridad».',
    email_verified: 'En «Inicio de sesión y seguridad».',
    five_friends: 'En «Amigos», encima de las salas.',
    ens_primary: 'No disponible en este servidor.',
    username_claimed: 'En «Perfil».',
    social_added: 'Con un widget en tu página de perfil, en «Perfil».',
  },
  history: {
    title: 'Historial de puntos',
    empty: 'Aún no tienes puntos.',
    older: 'Mostrar más',
  },
  ranks: {
    title: 'Clasificación',
    empty: 'Aún nadie tiene puntos.',
    you: 'Tú',
    people:
      '{count, plural, one {# persona tiene puntos.} many {# de personas tienen puntos.} other {# personas tienen puntos.}}',
  },
  invites: {
    title: 'Invitaciones',
    hint: 'Da un código a alguien nuevo. Cuando lo use, los dos recibís 100 puntos.',
    left: 'Quedan {left} de {count, plural, one {# invitación} many {# de invitaciones} other {# invitaciones}}.',
    usedBy: 'Usado por {name}',
    copy: 'Copiar',
    copyOf: 'Copiar {code}',
    copied: 'Copiado',
    field: 'Código de invitación',
    example: '¿Te invitaron? Escribe tu código',
    use: 'Usar',
  },
}
