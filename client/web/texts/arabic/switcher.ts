import type { TextTranslation } from '../catalog.ts'
import type { switcherTexts as english } from '../switcher.ts'

export const switcherTexts: TextTranslation<typeof english> = {
  title: 'انتقال إلى',
  field: 'البحث في الغرف والأشخاص والإعدادات والإجراءات',
  example: 'غرفة أو شخص أو إعداد',
  results: 'النتائج',
  groups: {
    unread: 'غير مقروء',
    recent: 'الأحدث',
    acts: 'إجراءات',
  },
  kinds: {
    rooms: 'غرفة',
    groups: 'مجموعة',
    direct: 'رسالة مباشرة',
    friend: 'صديق',
    person: 'شخص',
    page: 'صفحة',
    settings: 'الإعدادات',
    act: 'إجراء',
  },
  detail: '{kind} · {about}',
  setting: '{settings} ← {section}',
  acts: {
    message: 'رسالة جديدة',
    appearance: 'المظهر',
    keys: 'اختصارات لوحة المفاتيح',
    signOut: 'تسجيل الخروج',
  },
  count:
    '{count, plural, zero {لا نتائج} one {نتيجة واحدة} two {نتيجتان} few {# نتائج} many {# نتيجة} other {# نتيجة}}',
  loading: 'يجري تحميل غرفك…',
  failed: 'تعذّر تحميل غرفك.',
  searching: 'يجري البحث عن أشخاص…',
  unsearched: 'لا يمكن البحث عن أشخاص الآن.',
  untyped: 'اكتب اسمًا.',
  none: 'لا شيء يطابق «{query}».',
  offline: 'أنت غير متصل، لذا يقتصر البحث على غرفك وأصدقائك وإعداداتك.',
  hints: {
    choose: 'اختيار',
    go: 'فتح',
    people: 'الأشخاص',
    rooms: 'الغرف',
  },
}
