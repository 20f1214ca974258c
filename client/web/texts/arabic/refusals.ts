import type { TextTranslation } from '../catalog.ts'
import type { refusalTexts as english } from '../refusals.ts'

export const refusalTexts: TextTranslation<typeof english> = {
  codes: {
    BLOCKED_WORD: 'تحتوي رسالتك على كلمة محظورة',
    MESSAGE_REJECTED: 'تعذّر إرسال رسالتك.',
    LINKS_NOT_ALLOWED: 'الروابط غير مسموح بها',
    CONTENT_NOT_ALLOWED: 'هذا المحتوى غير مسموح به',
    TEXT_TOO_COMPLEX: 'تعذّر فحص هذه الرسالة. اختصرها أو بسّطها.',
    MESSAGE_TOO_LONG: 'الرسالة طويلة جدًا',
    EDIT_WINDOW_CLOSED: 'يمكن تعديل الرسائل خلال 15 دقيقة',
    BANNED: 'أنت محظور من هذه الغرفة',
    BLOCKED: 'لا يمكنك مراسلة هذا الشخص',
    MUTED: 'أنت مكتوم في هذه الغرفة',
    READ_ONLY: 'هذه الغرفة للقراءة فقط',
    SUSPENDED: 'حسابك موقوف',
    ROOM_ARCHIVED: 'هذه الغرفة مؤرشفة',
    ROOM_NOT_FOUND: 'لم يُعثر على الغرفة',
    NOT_A_MEMBER: 'لست عضوًا في هذه الغرفة',
    USERNAME_TAKEN: 'اسم المستخدم هذا غير متاح',
    INVITATION_NOT_FOUND: 'هذه الدعوة غير معروفة. تأكد من نسخ الرابط كاملًا.',
    INVITATION_EXPIRED: 'انتهت صلاحية هذه الدعوة. اطلب دعوة جديدة.',
    INVITATION_USED_UP: 'استُنفدت هذه الدعوة. اطلب دعوة جديدة.',
    INVITATION_REVOKED: 'سُحبت هذه الدعوة. اطلب دعوة جديدة.',
    CODE_EXPIRED: 'انتهت صلاحية الرمز. اطلب رمزًا جديدًا.',
    TOO_MANY_ATTEMPTS: 'محاولات كثيرة جدًا. اطلب رمزًا جديدًا.',
    SLOT_TAKEN: 'هذا الوقت محجوز. اختر وقتًا آخر.',
  },
}
