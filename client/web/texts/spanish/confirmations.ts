import type { TextTranslation } from '../catalog.ts'
import type { confirmationTexts as english } from '../confirmations.ts'

export const confirmationTexts: TextTranslation<typeof english> = {
  cancel: 'Cancelar',
  actionOf: '{action}: {name}',
  stream: 'Los espectadores ven que la transmisión ha terminado. Puedes iniciar otra cuando quieras.',
  signIn: 'Ya no podrás iniciar sesión con ello.',
  deviceKey: 'Los nuevos mensajes directos ya no se podrán leer en este dispositivo.',
  device: 'Este dispositivo tendrá que iniciar sesión de nuevo.',
  otherDevices: 'Todos los demás dispositivos tendrán que iniciar sesión de nuevo.',
  participant: 'Esta persona sale de la reunión y no puede volver.',
  meeting: 'La reunión termina para todos los que están en ella.',
  inviteLink: 'Nadie podrá unirse con este enlace.',
  webhookSecret: 'Ambos secretos valen 24 horas; después, solo el nuevo.',
  webhook: 'Los eventos de esta sala ya no se enviarán a esta URL.',
  friend: 'Dejaréis de ser amigos. Puedes enviar otra solicitud más tarde.',
  agentOfRoom: 'El agente ya no podrá leer esta sala ni responder en ella.',
  folder: 'Las salas que contiene siguen en tu lista.',
  ban: 'Esta persona ya no podrá leer ni escribir en esta sala.',
  purge: 'Sus mensajes en esta sala se eliminan para todos.',
  handOver: 'Esta persona administrará la sala. Solo ella podrá devolvértela.',
  broadcast: 'Cada persona recibe un mensaje directo que no se puede retirar.',
  moderator: 'Esta persona pierde sus derechos de moderación en todas las salas.',
  inviteCode: 'Nadie podrá registrarse con este código.',
  suspend: 'Esta persona podrá leer, pero no enviar, hasta que levantes la suspensión.',
  makeAdmin: 'Esta persona podrá administrar las personas y salas de este servidor.',
  removeAdmin: 'Esta persona pierde todos los derechos de administrador.',
}
