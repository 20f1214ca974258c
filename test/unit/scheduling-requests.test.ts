import { describe, expect, test } from 'vitest'
import { isSchedulingRequest } from '#server/domains/meetings/scheduling/booking-card'

describe('a request for an appointment', () => {
  test.each([
    'Can I schedule a call with you?',
    'I would like to book a meeting next week',
    'book me a slot',
    'Are you free tomorrow?',
    'When are you available?',
    'What times are free? Do you have any time slots?',
    'Could we meet on Thursday?',
    'LET’S SET UP A CALL',
    'Ich hätte gern einen Termin',
    'Wann hast du Zeit?',
    'Je voudrais prendre rendez-vous',
    'Quelles sont vos disponibilités ?',
    'Quiero agendar una cita',
    'Gostaria de marcar uma reunião',
    'Vorrei fissare un appuntamento',
    'Ik wil graag een afspraak maken',
    'Chciałbym umówić się na spotkanie',
    'Можно записаться на встречу?',
    'Randevu almak istiyorum',
    'أريد حجز موعد',
    'मुझे अपॉइंटमेंट चाहिए',
    '我想预约一个时间',
    '予約したいです',
    '회의 예약을 하고 싶어요',
  ])('%s', (message) => expect(isSchedulingRequest(message, [])).toBe(true))

  test.each([
    'Which book should I read?',
    'What is a call stack?',
    'Is the shirt available in blue?',
    'Tell me a joke',
    'What is the term for this?',
    'How do I determine the size?',
    'Bitte um eine Terminologie der Farben',
    'yes',
    'ok',
    'monday',
    '',
    '🙂',
  ])('is none: %s', (message) => expect(isSchedulingRequest(message, [])).toBe(false))

  const about = ['Can I book a call?', 'Of course, here are the free times.']
  test.each([
    'yes',
    'Yes please!',
    'ok, sounds good',
    'ja gerne',
    'oui',
    'sí, claro',
    'да',
    '好的',
    'はい',
    'monday',
    'at 3 pm',
    '14:30',
    'the first one',
  ])('is confirmed in a few words after one: %s', (message) => expect(isSchedulingRequest(message, about)).toBe(true))

  test.each([
    'no',
    'yesterday I saw a film',
    'okapi',
    'yes and by the way tell me everything about the history of Rome',
  ])('is not confirmed by: %s', (message) => expect(isSchedulingRequest(message, about)).toBe(false))

  test('is confirmed by nothing once the talk is of something else', () => {
    expect(isSchedulingRequest('yes', [...about, 'Do you like tea?', 'Do you?'])).toBe(false)
  })

  test('is looked for in the longest message at once', () => {
    const started = performance.now()
    for (const part of ['when ', 'are you ', 'book a ', 'can we ', 'a'])
      isSchedulingRequest(part.repeat(10_000 / part.length), about)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
