import { mentionTest, plainText, plainWords } from '#server/domains/rooms/text/mentions'

const words =
  'schedul* reschedul* appointment* availability calendar* timeslot* meeting* ' +
  'termin termine terminen terminvorschlag* terminvereinbar* verabred* kalender buchen verfugbarkeit zeitfenster besprechung* ' +
  'rendez-vous rdv planifier creneau* disponibilit* ' +
  'cita citas agendar agendamos reunirnos reunion* disponibilidad* reservar ' +
  'reuniao reunioes agendamento* marcar ' +
  'appuntament* prenot* riunion* ' +
  'afspraak afspraken inplannen beschikbaarheid ' +
  'spotkani* umowic rezerwacj* ' +
  'встреч* записаться запишите назначить созвон* забронировать зустріч* записатися ' +
  'randevu* toplanti* toplantı*'

const phrases = [
  'book (a|an|some|another|the|your|me|us|my) .{0,30}(call|time|slot|session|chat|meeting|consultation|appointment|demo)s?',
  'book (time|you|with)',
  '(set up|arrange|plan|organi[sz]e|have|hop on|jump on) an? .{0,20}(call|chat|session|demo)',
  '(can|could|may|shall|let) (we|us|i|you) .{0,20}(meet|talk on|have a call|speak on)',
  '(are|is|will|would) (you|he|she|they|somebody|someone) .{0,20}(free|available)',
  'when .{0,30}(free|available|meet|talk|speak)',
  '(available|free|open|possible) (times?|slots?|dates?|days?|hours?)',
  'time slots?',
  '(hast|haben|habt|ist|bist|wann) .{0,30}(zeit|frei|verfugbar)',
  '(un|einen) (appel|anruf) .{0,20}(organiser|planen|vereinbaren)',
  '(es-tu|etes-vous|quand) .{0,30}(libre|disponible)s?',
  '(estas|esta|cuando|quando|estais|voce) .{0,30}(libre|disponible|disponivel|livre|libero|disponibile)',
  '(sei|quando) .{0,20}(libero|libera|disponibile)',
]

const anywhere =
  '预约 預約 约个时间 約個時間 安排会议 安排會議 安排通话 有空 予約 アポ 日程調整 面談 打ち合わせ 空いてい 예약 일정 약속 미팅 موعد مواعيد اجتماع احجز حجز अपॉइंटमेंट मीटिंग मुलाकात'

const confirmations =
  'yes|yep|yeah|yup|sure|ok|okay|please|perfect|great|sounds good|that works|works for me|go ahead|do it|let s do it|book it|confirm|confirmed|' +
  'ja|gerne|klar|passt|in ordnung|bitte|oui|d accord|bien sur|parfait|volontiers|si|claro|vale|perfecto|de acuerdo|sim|certo|pode ser|va bene|perfetto|certo|' +
  'graag|prima|goed|tak|dobrze|jasne|да|хорошо|давай|давайте|конечно|ок|так|добре|evet|tamam|olur|نعم|حسنا|تمام|हाँ|हां|ठीक है|好|好的|可以|是的|行|はい|お願いします|네|좋아요|그래요'

const shortAnswer = 40

const asks = mentionTest({ words, phrases, anywhere })
const confirming = new RegExp(`^(?:(?:${plainText(confirmations)})(?: |$))+`, 'u')
// A day, an hour, or a choice among shown slots.
const choosing =
  /^(?:(?:on|at|the|for|am|um|le|a|el|la|às|maybe|then|next|this) )*(?:\d{1,2}(?: \d\d)?(?: ?(?:am|pm|uhr|h|o clock))?|tomorrow|today|morgen|heute|demain|manana|amanha|domani|завтра|明天|明日|내일|first|second|third|last|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?: |$)/u

/** Whether a message is about an appointment: by itself, or as a short answer after two such turns. */
export function isSchedulingRequest(message: string, before: readonly string[]): boolean {
  if (asks(message)) return true
  const text = plainWords(message)
  if (text.length === 0 || text.length > shortAnswer) return false
  return (confirming.test(text) || choosing.test(text)) && before.slice(-2).some(asks)
}
