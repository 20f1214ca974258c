import type { TextTranslation } from '../catalog.ts'
import type { controlTexts as english } from '../controls.ts'

export const controlTexts: TextTranslation<typeof english> = {
  backToRooms: 'العودة إلى الغرف',
  remove: 'إزالة',
  showMore: 'عرض المزيد',
  status: 'الحالة: {words}',
  copy: 'نسخ',
  apart: 'صورة داخل صورة',
  whole: 'ملء الشاشة',
  leaveWhole: 'إنهاء ملء الشاشة',
  copied: {
    link: 'تم نسخ الرابط.',
    secret: 'تم نسخ السر.',
  },
  notCopied: 'لا يسمح هذا المتصفح بالنسخ. انسخ النص من حقله.',
  position: {
    unsupported: 'لا يعرف هذا المتصفح موقعك.',
    refused: 'رُفض الوصول إلى الموقع. اسمح به في إعدادات متصفحك.',
    unknown: 'تعذّر العثور على موقعك.',
    slow: 'استغرق البحث عن موقعك وقتًا طويلًا.',
  },
}
