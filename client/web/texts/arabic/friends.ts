import type { TextTranslation } from '../catalog.ts'
import type { friendTexts as english } from '../friends.ts'

export const friendTexts: TextTranslation<typeof english> = {
  title: 'الأصدقاء',
  addTitle: 'إضافة صديق',
  addField: 'اسم المستخدم أو الاسم أو العنوان',
  addHint: 'أدخل اسم مستخدم أو اسمًا أو عنوانًا',
  add: 'إرسال طلب صداقة',
  sent: '{count, plural, zero {لم يُرسل أي طلب صداقة.} one {تم إرسال طلب الصداقة.} two {تم إرسال طلبي صداقة.} few {تم إرسال # طلبات صداقة.} many {تم إرسال # طلب صداقة.} other {تم إرسال # طلب صداقة.}}',
  incoming: 'طلبات الصداقة',
  accept: 'قبول',
  acceptOf: 'قبول طلب الصداقة من {name}',
  decline: 'رفض',
  declineOf: 'رفض طلب الصداقة من {name}',
  outgoing: 'الطلبات المرسلة',
  cancel: 'إلغاء الطلب',
  cancelOf: 'إلغاء الطلب إلى {name}',
  all: 'كل الأصدقاء',
  empty: 'لا أصدقاء بعد',
  emptyHint: 'أرسل طلب صداقة أعلاه. يمكن للأصدقاء إضافة بعضهم إلى المجموعات دون دعوة.',
  online: 'متصل',
  message: 'رسالة',
  messageTo: 'مراسلة {name}',
}
