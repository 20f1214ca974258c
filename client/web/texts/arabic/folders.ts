import type { TextTranslation } from '../catalog.ts'
import type { folderTexts as english } from '../folders.ts'

export const folderTexts: TextTranslation<typeof english> = {
  title: 'المجلدات',
  move: 'نقل إلى مجلد',
  empty: 'المجلد علامة تبويب فوق غرفك. أنت وحدك تراه.',
  list: 'مجلداتك',
  edit: 'تعديل',
  editOf: 'تعديل {name}',
  editAll: 'تعديل المجلدات',
  delete: 'حذف',
  new: 'مجلد جديد',
  create: 'إنشاء مجلد',
  save: 'حفظ',
  emoji: 'رمز تعبيري',
  name: 'الاسم',
  nameExample: 'العمل',
  all: 'الكل',
  pinnedAtMost:
    '{count, plural, zero {لا يمكنك تثبيت محادثات.} one {يمكنك تثبيت محادثة واحدة.} two {يمكنك تثبيت محادثتين على الأكثر.} few {يمكنك تثبيت # محادثات على الأكثر.} many {يمكنك تثبيت # محادثة على الأكثر.} other {يمكنك تثبيت # محادثة على الأكثر.}} ألغِ تثبيت واحدة أولًا.',
}
