import type { TextTranslation } from '../catalog.ts'
import type { confirmationTexts as english } from '../confirmations.ts'

export const confirmationTexts: TextTranslation<typeof english> = {
  cancel: 'Abbrechen',
  actionOf: '{action}: {name}',
  stream: 'Zuschauer sehen, dass der Stream zu Ende ist. Du kannst jederzeit einen neuen starten.',
  signIn: 'Du kannst dich damit nicht mehr anmelden.',
  deviceKey: 'Neue Direktnachrichten sind auf diesem Gerät nicht mehr lesbar.',
  device: 'Dieses Gerät muss sich neu anmelden.',
  otherDevices: 'Alle anderen Geräte müssen sich neu anmelden.',
  participant: 'Die Person verlässt das Treffen und kann nicht zurückkommen.',
  meeting: 'Das Treffen endet für alle, die dabei sind.',
  inviteLink: 'Mit diesem Link kann niemand mehr beitreten.',
  webhookSecret: 'Beide Geheimnisse gelten 24 Stunden lang, danach nur das neue.',
  webhook: 'Ereignisse dieses Raums werden nicht mehr an diese URL gesendet.',
  friend: 'Ihr seid dann nicht mehr befreundet. Du kannst später neu anfragen.',
  agentOfRoom: 'Der Agent kann diesen Raum nicht mehr lesen und nicht mehr darin antworten.',
  folder: 'Die Räume darin bleiben in deiner Liste.',
  ban: 'Die Person kann in diesem Raum nicht mehr lesen und schreiben.',
  purge: 'Die Nachrichten dieser Person in diesem Raum werden für alle gelöscht.',
  handOver: 'Die Person verwaltet dann diesen Raum. Nur sie kann ihn zurückgeben.',
  broadcast: 'Alle erhalten eine Direktnachricht, die sich nicht zurückholen lässt.',
  moderator: 'Die Person verliert ihre Moderationsrechte in allen Räumen.',
  inviteCode: 'Mit diesem Code kann sich niemand mehr registrieren.',
  suspend: 'Die Person kann lesen, aber nichts senden, bis du die Sperre aufhebst.',
  makeAdmin: 'Die Person kann dann Leute und Räume dieses Servers verwalten.',
  removeAdmin: 'Die Person verliert alle Rechte eines Administrators.',
}
