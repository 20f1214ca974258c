import type { TextTranslation } from '../catalog.ts'
import type { deleteAccountTexts as english } from '../delete-account.ts'

export const deleteAccountTexts: TextTranslation<typeof english> = {
  title: 'Eliminar cuenta',
  kept: 'Esta cuenta estaba a punto de eliminarse. La conservaste al iniciar sesión el {time}.',
  hint: 'Elimina tu cuenta y todo lo que es tuyo. Descarga antes tus datos.',
  begun: 'Tu cuenta se eliminará el {time}. Inicia sesión antes para conservarla.',
  counts: {
    rooms:
      '{count, plural, one {# sala} many {# de salas} other {# salas}}: un moderador o miembro pasa a ser el propietario, o la sala se archiva.',
    agents: '{count, plural, one {# agente: eliminado} many {# de agentes: eliminados} other {# agentes: eliminados}}.',
    streams:
      '{count, plural, one {# directo: finalizado y eliminado, con todas sus grabaciones} many {# de directos: finalizados y eliminados, con todas sus grabaciones} other {# directos: finalizados y eliminados, con todas sus grabaciones}}.',
    calls:
      '{count, plural, one {# llamada próxima: cancelada} many {# de llamadas próximas: canceladas} other {# llamadas próximas: canceladas}}, con un correo a la otra persona.',
    webhooks:
      '{count, plural, one {# webhook: eliminado} many {# de webhooks: eliminados} other {# webhooks: eliminados}}.',
    payments:
      '{count, plural, one {# pago: se conserva} many {# de pagos: se conservan} other {# pagos: se conservan}} sin tu nombre, como exige la ley fiscal.',
  },
  others: 'Tu perfil, amigos, archivos, dispositivos y ajustes: eliminados.',
  grace:
    'Se cierra tu sesión de inmediato. Durante {days, plural, one {# día} many {# de días} other {# días}} puedes iniciar sesión para conservar la cuenta.',
  atOnce: 'Ocurre de inmediato y no se puede deshacer.',
  messages: 'Tus mensajes',
  unlink: 'Conservarlos para los demás, como de “Deleted user”',
  erase: 'Eliminarlos en todas partes',
  confirm: 'Escribe {name} para confirmar',
}
