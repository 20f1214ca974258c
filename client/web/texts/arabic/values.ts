import type { TextTranslation } from '../catalog.ts'
import type { valueTexts as english } from '../values.ts'

export const valueTexts: TextTranslation<typeof english> = {
  roles: {
    owner: 'مالك',
    admin: 'مسؤول',
    moderator: 'مشرف',
    member: 'عضو',
  },
  reports: {
    spam: 'رسائل مزعجة',
    harassment: 'مضايقة',
    hate_speech: 'خطاب كراهية',
    violence: 'عنف',
    scam: 'احتيال',
    impersonation: 'انتحال شخصية',
    inappropriate_content: 'محتوى غير لائق',
    other: 'غير ذلك',
    blocked_word: 'كلمة محظورة',
  },
  bugs: {
    Agents: 'الوكلاء',
    Friends: 'الأصدقاء',
    Calls: 'المكالمات',
    Chats: 'المحادثات',
    Rooms: 'الغرف',
    Livestream: 'البث المباشر',
    Settings: 'الإعدادات',
    Configuration: 'الضبط',
    Other: 'غير ذلك',
  },
  rules: {
    links_allowed: 'الروابط',
    photos_allowed: 'الصور',
    pixel_art_allowed: 'رسوم البكسل',
    gifs_allowed: 'ملفات GIF',
    polls_allowed: 'الاستطلاعات',
    location_sharing_allowed: 'المواقع',
    voice_allowed: 'الصوت',
    files_allowed: 'الملفات',
    read_only: 'القراءة فقط',
    slow_mode_seconds: 'الوضع البطيء',
    max_message_length: 'أقصى طول',
    rules_text: 'نص القواعد',
    read_access: 'حق القراءة',
    message_ttl: 'إزالة الرسائل',
  },
}
