import type { TextTranslation } from '../catalog.ts'
import type { connectionTexts as english } from '../connection.ts'

export const connectionTexts: TextTranslation<typeof english> = {
  caughtUp:
    'تم اللحاق بما فات: {events, plural, zero {لا أحداث} one {حدث واحد} two {حدثان} few {# أحداث} many {# حدثًا} other {# حدث}}، {gaps, plural, zero {لا فجوات} one {فجوة واحدة} two {فجوتان} few {# فجوات} many {# فجوة} other {# فجوة}}',
  problems: {
    offline: 'أنت غير متصل. تُرسل الرسائل التي تكتبها عندما يعود اتصالك.',
    rest: 'الاتصال محدود. قد تصل الرسائل الجديدة متأخرة.',
    closed: 'انقطع الاتصال. أعد تحميل الصفحة للاتصال من جديد.',
    cut: 'قطعتَ الاتصال. تُرسل الرسائل التي تكتبها عندما تتصل من جديد.',
  },
  reconnect: 'الاتصال من جديد',
}
