import { mentionTest, plainText, plainWords } from '#server/domains/rooms/text/mentions'
import type { Node } from '#server/kernel/context'
import type { Scheduling } from '#shared/api/agents/run-frames'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'
import { freeTimes } from './free-times.ts'
import { dayLength, type Span } from './open-time.ts'
import { defaultSettings, schedulingSettingsOf } from './own-settings.ts'

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

const days = 7
const slotsAtMost = 50

/** Whether a message requests an appointment, alone or as a short answer to these turns. */
export const asksForAppointment = (message: string, history: readonly { content: string }[]): boolean =>
  isSchedulingRequest(
    message,
    history.map(({ content }) => content),
  )

/** Bookable times within a week; null without windows. Models never see them, as gaps tell when a person is busy. */
export async function bookingCard(node: Node, owner: string): Promise<Scheduling | null> {
  const now = node.now()
  const settings = await schedulingSettingsOf(owner)
  const within = { start: now, end: now + days * dayLength }
  const { slots, timezone, none } = await freeTimes(node, owner, settings, slotsAtMost, () => within)
  if (none === 'no windows') return null
  return {
    ownerAddress: owner,
    slots: slots.map(renderSlot),
    slotsByDate: labelled(slots, timezone),
    ...offered(settings),
    timezone,
  }
}

/** The kinds of calls that can be booked; disabled ones with default lengths. */
function offered(settings: SchedulingSettings) {
  const freeEnabled = settings.scheduling_enabled && settings.scheduling_free_enabled
  const paidEnabled = settings.scheduling_enabled && settings.scheduling_paid_enabled
  const { scheduling_free_duration_minutes, scheduling_paid_duration_minutes } = defaultSettings
  return {
    freeEnabled,
    paidEnabled,
    freeDuration: freeEnabled ? settings.scheduling_free_duration_minutes : scheduling_free_duration_minutes,
    paidDuration: paidEnabled ? settings.scheduling_paid_duration_minutes : scheduling_paid_duration_minutes,
    priceCents: paidEnabled ? settings.scheduling_price_cents : 0,
  }
}

export const renderSlot = ({ start, end }: Span) => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
})

/** Start times by day, in the zone. */
function labelled(slots: readonly Span[], timeZone: string): Record<string, string[]> {
  const day = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', month: 'short', day: 'numeric' })
  const hour = new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: '2-digit' })
  const labels: Record<string, string[]> = {}
  for (const { start } of slots) {
    const on = day.format(start)
    labels[on] = [...(labels[on] ?? []), hour.format(start).replace(/\s/g, ' ')]
  }
  return labels
}
