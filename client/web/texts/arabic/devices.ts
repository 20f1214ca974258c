import type { TextTranslation } from '../catalog.ts'
import type { deviceTexts as english } from '../devices.ts'

export const deviceTexts: TextTranslation<typeof english> = {
  microphone: 'الميكروفون',
  camera: 'الكاميرا',
  speaker: 'مكبر الصوت',
  title: 'اختيار الأجهزة',
  hint: 'يتذكر هذا المتصفح اختيارك.',
  standard: 'الجهاز الافتراضي',
  unnamed: 'الجهاز {number}',
  level: 'مستوى الميكروفون',
  share: 'مشاركة الشاشة',
  stopSharing: 'إيقاف مشاركة الشاشة',
  replaced: {
    audio: 'فُصل الميكروفون. يُستخدم الآن {name}.',
    video: 'فُصلت الكاميرا. تُستخدم الآن {name}.',
  },
  speakerGone: 'فُصل مكبر الصوت. يُستخدم الآن الجهاز الافتراضي.',
  mutedByHost: 'كتم المضيف صوتك. يمكنك تشغيل الميكروفون من جديد.',
  problems: {
    insecure: 'لا يسمح هذا المتصفح بالكاميرا إلا على عنوان يبدأ بـ https.',
    notAllowed: 'متصفحك يحظره. اسمح به لهذه الصفحة ثم شغّله من جديد.',
    notFound: 'لم يُعثر على كاميرا أو ميكروفون. لا يزال بإمكانك المشاهدة والاستماع.',
    inUse: 'الكاميرا أو الميكروفون قيد الاستخدام في برنامج آخر.',
    notOpened: 'تعذّر فتح الكاميرا والميكروفون.',
  },
}
